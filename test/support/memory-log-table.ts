// The embedded log's table in memory: transactions can be held, and can fail.

import type { Batch, LogBounds, LogPosition, StoredBatch } from '#domain/lane'
import type { Appending, LogTable } from '#domain/ports'

interface Row extends StoredBatch {
  readonly appendedAt: number
}

export class MemoryLogTable implements LogTable {
  /** Runs before a transaction is made: a test may hold it, or reject. */
  beforeAppend: () => Promise<void> = () => Promise.resolve()
  /** The number of batches in each transaction. */
  readonly transactions: number[] = []
  /** The number of reads of the table. */
  reads = 0
  #rows: Row[] = []
  #position = 0
  #epoch = 0
  /** The last position that each lane ever had, also after a purge of all. */
  readonly #last = new Map<number, LogPosition>()

  takeOver(above: number): Promise<number> {
    this.#epoch = Math.max(this.#epoch, above) + 1
    return Promise.resolve(this.#epoch)
  }

  async append(
    batches: readonly Batch[],
    { nowMs, epoch }: Appending,
  ): Promise<readonly LogPosition[] | 'fenced'> {
    await this.beforeAppend()
    if (epoch !== this.#epoch) return 'fenced'
    this.transactions.push(batches.length)
    return batches.map((batch) => {
      this.#position += 1
      this.#rows.push({ ...batch, position: this.#position, appendedAt: nowMs })
      this.#last.set(batch.lane, this.#position)
      return this.#position
    })
  }

  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly StoredBatch[]> {
    this.reads += 1
    const behind = this.#rows.filter((row) => row.lane === lane && row.position > after)
    let count = 0
    const end = behind.findIndex((row, index) => {
      count += row.count
      return index > 0 && count > maxCount
    })
    const rows = end < 0 ? behind : behind.slice(0, end)
    return Promise.resolve(rows.map((row): StoredBatch => row))
  }

  bounds(lane: number): Promise<LogBounds> {
    const oldest = this.#rows.find((row) => row.lane === lane)
    const last = this.#last.get(lane) ?? 0
    return Promise.resolve({ first: oldest?.position ?? (last === 0 ? 0 : last + 1), last })
  }

  bytes(): Promise<number> {
    return Promise.resolve(sizeOf(this.#rows))
  }

  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
    maxRows: number,
  ): Promise<{ readonly rows: number; readonly bytes: number }> {
    const old = this.#rows
      .filter((row) => row.lane === lane && row.position <= through)
      .filter((row) => row.appendedAt < olderThanMs)
      .slice(0, maxRows)
    this.#rows = this.#rows.filter((row) => !old.includes(row))
    return Promise.resolve({ rows: old.length, bytes: sizeOf(old) })
  }

  identity(): Promise<string> {
    return Promise.resolve('memory table')
  }
}

/** Bytes of payload, which is how the log counts them. */
const sizeOf = (rows: readonly Row[]): number =>
  rows.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0)
