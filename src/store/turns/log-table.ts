// The table of the embedded log. Positions are the table's own row numbers, so they grow in every
// lane and never repeat, even after everything was purged.
//
// Invariants:
//   W1. An append answers after a durable transaction.
//   W2. That transaction compares the epoch: a process that lost the log to another appends
//       nothing.

import type { Batch, LogBounds, LogPosition, StoredBatch } from '#domain/lane'
import type { Appending, LogTable } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import { Bulk } from '#src/store/statements/bulk'
import { RolledBack } from '#src/store/jobs/database'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import type { LogBatchRow } from '#src/store/entities/lanes'
import type { Tables } from '#src/store/entities/tables'
import { factFor } from './lanes.ts'

/** Bytes of payload that one read may bring into memory, beyond its first batch. */
const READ_SIZE_MAX = 8 * 2 ** 20
const READ_BATCHES_MAX = 1_024
const EPOCH = 'epoch'

type StoredSize = Omit<LogBatchRow, 'lane' | 'payload'> & { readonly id: LogPosition }

export class LogBatches implements LogTable {
  readonly #database: Database
  readonly #batches: Bulk<LogBatchRow>
  readonly #entropy: Runtime['entropy']

  constructor(database: Database, tables: Tables, entropy: Runtime['entropy']) {
    this.#database = database
    this.#entropy = entropy
    this.#batches = Bulk.of(tables.logBatches)
  }

  takeOver(above: number): Promise<number> {
    return this.#database.durable(async (executor) => {
      const epoch = Math.max(above, Number(await factFor(executor, EPOCH, '0'))) + 1
      await executor.run('UPDATE gateway_meta SET value = ? WHERE name = ?', [String(epoch), EPOCH])
      return epoch
    })
  }

  append(
    batches: readonly Batch[],
    { nowMs, epoch }: Appending,
  ): Promise<readonly LogPosition[] | 'fenced'> {
    const rows = batches.map(({ lane, count, payload }) => ({
      lane,
      submissions: count,
      size: Buffer.byteLength(payload),
      appendedAt: nowMs,
      payload,
    }))
    // W1
    return this.#database.durable<readonly LogPosition[] | 'fenced'>(async (executor) => {
      if ((await epochOf(executor)) !== epoch) return new RolledBack('fenced') // W2
      const positions: LogPosition[] = []
      await this.#batches.write(executor, rows, (raw, count) => {
        const first = executor.dialect.firstId(raw, count)
        for (let offset = 0; offset < count; offset += 1) positions.push(first + offset)
      })
      return positions
    })
  }

  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly StoredBatch[]> {
    return this.#database.snapshot(async (executor) => {
      const sizes = await sizesBehind(executor, { lane, after, limit: READ_BATCHES_MAX })
      const last = lastWithin(sizes, maxCount)
      if (last === undefined) return []
      return executor.all<StoredBatch>(
        `SELECT id AS position, lane, submissions AS count, payload FROM log_batches
          WHERE lane = ? AND id > ? AND id <= ? ORDER BY id`,
        [lane, after, last],
      )
    })
  }

  async bounds(lane: number): Promise<LogBounds> {
    const ends = await this.#database.first<{ first: number | null; last: number | null }>(
      `SELECT (SELECT min(id) FROM log_batches WHERE lane = ?) AS first,
        (SELECT max(id) FROM log_batches WHERE lane = ?) AS last`,
      [lane, lane],
    )
    return { first: ends?.first ?? 0, last: ends?.last ?? 0 }
  }

  /** Bytes of payload, as the log counts them. */
  async bytes(): Promise<number> {
    const row = await this.#database.first<{ size: number | string | null }>(
      'SELECT sum(size) AS size FROM log_batches',
    )
    return Number(row?.size ?? 0) // MySQL adds up in decimals, which the driver gives as text.
  }

  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
    maxRows: number,
  ): Promise<{ readonly rows: number; readonly bytes: number }> {
    return this.#database.repeatable(async (executor) => {
      const oldest = await sizesBehind(executor, { lane, after: 0, limit: maxRows })
      const young = oldest.findIndex(
        ({ id, appendedAt }) => id > through || appendedAt >= olderThanMs,
      )
      const removed = young < 0 ? oldest : oldest.slice(0, young)
      const last = removed.at(-1)
      if (last === undefined) return { rows: 0, bytes: 0 }
      await executor.run('DELETE FROM log_batches WHERE lane = ? AND id <= ?', [lane, last.id])
      return { rows: removed.length, bytes: removed.reduce((sum, { size }) => sum + size, 0) }
    })
  }

  identity(): Promise<string> {
    return this.#database.durable((executor) =>
      factFor(executor, 'identity', this.#entropy(16).toString('hex')),
    )
  }
}

async function epochOf(executor: Executor): Promise<number> {
  const row = await executor.first<{ value: string }>(
    `SELECT value FROM gateway_meta WHERE name = ?${executor.dialect.forUpdate}`,
    [EPOCH],
  )
  return Number(row?.value ?? 0)
}

const sizesBehind = (
  executor: Executor,
  { lane, after, limit }: { readonly lane: number; after: LogPosition; readonly limit: number },
): Promise<StoredSize[]> =>
  executor.all(
    `SELECT id, submissions, size, appended_at AS appendedAt FROM log_batches
      WHERE lane = ? AND id > ? ORDER BY id LIMIT ?`,
    [lane, after, limit],
  )

/** The last batch that still fits; the first one always does. */
function lastWithin(batches: readonly StoredSize[], maxCount: number): LogPosition | undefined {
  let last: LogPosition | undefined
  let count = 0
  let size = 0
  for (const batch of batches) {
    count += batch.submissions
    size += batch.size
    if (last !== undefined && (count > maxCount || size > READ_SIZE_MAX)) break
    last = batch.id
  }
  return last
}
