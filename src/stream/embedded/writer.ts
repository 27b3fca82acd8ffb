// Writes the embedded log with one fsync for all waiting appends, on a thread of its own, so that
// neither turns nor requests wait for the disk.
//
// Invariants:
//   W1. An append answers only after the transaction that holds it is on the disk.
//   W2. Once another process has taken the log over, the log stores no batch of this one.
//   W4. The log drops nothing that is not applied: beyond its byte bound it refuses appends, and it
//     purges only entries before the applied position.
//   embedded-writer/1. Appends that arrive in one pass of the event loop, or while a transaction
//     runs, share one transaction: group commit without a timer.

import type { Appended, Batch, LogBounds, LogPosition, StoredBatch } from '#domain/lane'
import type { LogSource, LogTable, LogWriter, NowMs } from '#domain/ports'
import type { Logger, Meter } from '#domain/telemetry'

export interface EmbeddedWriterPorts {
  readonly table: LogTable
  readonly meter: Meter
  readonly logger: Logger
  readonly nowMs: NowMs
  /** Runs a task after the thread has received the messages at hand. */
  readonly soon: (task: () => void) => void
  /** Called when another process has taken the log over. (W2) */
  readonly onFenced: () => void
}

interface Pending {
  readonly batch: Batch
  readonly bytes: number
  readonly answer: (outcome: Appended) => void
}

const RETRY_AFTER_MS = 1000
const UNAVAILABLE: Appended = {
  kind: 'refused',
  reason: 'unavailable',
  retryAfterMs: RETRY_AFTER_MS,
}
/** Epochs begin at 1. */
const NO_EPOCH = 0
const PURGE_ROWS_MAX = 64

/**
 * Appends the acceptor's batches, and sends them to the reader of the same process. Acceptor and
 * reader call over RPC.
 */
export class EmbeddedWriter implements LogWriter, LogSource {
  readonly #ports: EmbeddedWriterPorts
  readonly #bytesMax: number
  #pending: Pending[] = []
  #pendingBytes = 0
  #isWriting = false
  #bytes: number
  #epoch = NO_EPOCH
  #reader: (batches: readonly StoredBatch[]) => void = () => {}

  private constructor(ports: EmbeddedWriterPorts, bytesMax: number, bytes: number) {
    this.#ports = ports
    this.#bytesMax = bytesMax
    this.#bytes = bytes
    ports.meter.gauge('log_bytes', {}, () => this.#bytes)
  }

  /** `bytesMax` bounds the payload that the log holds. */
  static async open(ports: EmbeddedWriterPorts, bytesMax: number): Promise<EmbeddedWriter> {
    return new EmbeddedWriter(ports, bytesMax, await ports.table.bytes())
  }

  /** From now on sends the reader every batch once it is on the disk, in the order of positions. */
  sendTo(reader: (batches: readonly StoredBatch[]) => void): void {
    this.#reader = reader
  }

  async takeOver(above: number): Promise<number> {
    this.#epoch = await this.#ports.table.takeOver(above)
    return this.#epoch
  }

  identity(): Promise<string> {
    return this.#ports.table.identity()
  }

  bounds(lane: number): Promise<LogBounds> {
    return this.#ports.table.bounds(lane)
  }

  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly StoredBatch[]> {
    return this.#ports.table.read(lane, after, maxCount)
  }

  append(batch: Batch): Promise<Appended> {
    if (this.#epoch === NO_EPOCH) return Promise.resolve(UNAVAILABLE)
    const bytes = Buffer.byteLength(batch.payload)
    if (this.#bytes + this.#pendingBytes + bytes > this.#bytesMax) {
      // W4
      return Promise.resolve({ kind: 'refused', reason: 'full', retryAfterMs: RETRY_AFTER_MS })
    }
    this.#pendingBytes += bytes
    return new Promise((answer) => {
      this.#pending.push({ batch, bytes, answer })
      this.#writeSoon()
    })
  }

  async purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
  ): Promise<{ readonly purged: number }> {
    // A purge may delete many large batches, so it runs in steps, between which appends can run.
    for (let purged = 0; ;) {
      // A log that is more than half full drops every applied batch at once; a log with room keeps
      // them for inspection.
      const isTight = this.#bytes > this.#bytesMax / 2
      const before = isTight ? Number.MAX_SAFE_INTEGER : olderThanMs
      // W5: the entry at the applied position stays, so that the start can recognise an older
      // database.
      const step = await this.#ports.table.purge(lane, through - 1, before, PURGE_ROWS_MAX)
      this.#bytes -= step.bytes
      purged += step.rows
      if (step.rows < PURGE_ROWS_MAX) return { purged }
    }
  }

  /** embedded-writer/1: batches of several lanes, each in its own message, share one fsync. */
  #writeSoon(): void {
    if (this.#isWriting) return
    this.#isWriting = true
    this.#ports.soon(() => void this.#write())
  }

  async #write(): Promise<void> {
    const group = this.#pending
    this.#pending = []
    try {
      const batches = group.map(({ batch }) => batch)
      const appending = { nowMs: this.#ports.nowMs(), epoch: this.#epoch }
      const positions = await this.#ports.table.append(batches, appending)
      if (positions === 'fenced') this.#fenced(group)
      else this.#appendedAll(group, positions) // W1
    } catch (error) {
      this.#ports.logger.error('the log cannot write', { error: String(error) })
      this.#refuseAll(group)
    }
    this.#isWriting = false
    if (this.#pending.length > 0) this.#writeSoon()
  }

  /** W2 */
  #fenced(group: readonly Pending[]): void {
    this.#epoch = NO_EPOCH
    this.#refuseAll(group)
    this.#ports.onFenced()
  }

  #refuseAll(group: readonly Pending[]): void {
    for (const { bytes, answer } of group) {
      this.#pendingBytes -= bytes
      answer(UNAVAILABLE)
    }
  }

  #appendedAll(group: readonly Pending[], positions: readonly LogPosition[]): void {
    const stored: StoredBatch[] = []
    for (const [index, { batch, bytes, answer }] of group.entries()) {
      const position = positions[index]
      if (position === undefined) throw new Error('the log table gave fewer positions than batches')
      this.#pendingBytes -= bytes
      this.#bytes += bytes
      stored.push({ ...batch, position })
      answer({ kind: 'appended', position })
    }
    this.#reader(stored)
  }
}
