// The embedded log: batches in a table of the gateway's own database, one fsync for all that wait.
//
// Invariants:
//   W1. An append answers only after the transaction that holds it is on the disk.
//   W4. What is not applied is never dropped: beyond the byte bound appends are refused, and only
//       what is behind the applied position is purged.
//   G1. What has arrived by the end of a turn of the event loop, and what arrives while a
//       transaction runs, goes into one transaction: group commit without a timer.
//   G2. The tail in memory is only a cache of the table, and bounded; a reader that fell behind it
//       reads the table.

import type { Appended, Batch, LogEntry, LogPosition, StoredBatch } from '#domain/lane'
import type { LogReader, LogTable, LogWriter, NowMs } from '#domain/ports'
import type { Log, Meter } from '#domain/telemetry'
import { decodeBatch } from '#src/schemas/batch'

export interface EmbeddedLogPorts {
  readonly table: LogTable
  readonly meter: Meter
  readonly logger: Log
  readonly nowMs: NowMs
  /** Runs a task once the messages that are at hand have been received. */
  readonly soon: (task: () => void) => void
}

export interface EmbeddedLogOptions {
  readonly lanes: number
  readonly bytesMax: number
  readonly tailBytesMax: number
}

interface Pending {
  readonly batch: Batch
  readonly answer: (outcome: Appended) => void
}

/** What of one lane is in memory: everything behind `from`, in order. */
interface Tail {
  from: LogPosition
  readonly batches: StoredBatch[]
}

const RETRY_AFTER_MS = 1000
const PURGE_ROWS_MAX = 1000

/** Log and reader in one: ingress appends (over a link), the actors of the same process read. */
export class EmbeddedLog implements LogWriter, LogReader {
  readonly #ports: EmbeddedLogPorts
  readonly #options: EmbeddedLogOptions
  readonly #tails: readonly Tail[]
  readonly #watchers = new Set<(lane: number) => void>()
  #pending: Pending[] = []
  #pendingBytes = 0
  #isWriting = false
  #bytes: number
  #tailBytes = 0
  #appended = 0

  private constructor(
    ports: EmbeddedLogPorts,
    options: EmbeddedLogOptions,
    { bytes, last }: { readonly bytes: number; readonly last: readonly LogPosition[] },
  ) {
    this.#ports = ports
    this.#options = options
    this.#bytes = bytes
    this.#tails = last.map((from) => ({ from, batches: [] }))
    ports.meter.gauge('log_bytes', {}, () => this.#bytes)
  }

  static async open(ports: EmbeddedLogPorts, options: EmbeddedLogOptions): Promise<EmbeddedLog> {
    const last: LogPosition[] = []
    for (let lane = 0; lane < options.lanes; lane += 1) {
      last.push((await ports.table.bounds(lane)).last)
    }
    return new EmbeddedLog(ports, options, { bytes: await ports.table.bytes(), last })
  }

  /** Submissions appended since the start. */
  get appended(): number {
    return this.#appended
  }

  identity(): Promise<string> {
    return this.#ports.table.identity()
  }

  bounds(lane: number): Promise<{ readonly first: LogPosition; readonly last: LogPosition }> {
    return this.#ports.table.bounds(lane)
  }

  append(batch: Batch): Promise<Appended> {
    const { length } = batch.payload
    if (this.#bytes + this.#pendingBytes + length > this.#options.bytesMax) {
      // W4
      return Promise.resolve({ kind: 'refused', reason: 'full', retryAfterMs: RETRY_AFTER_MS })
    }
    this.#pendingBytes += length
    return new Promise((answer) => {
      this.#pending.push({ batch, answer })
      this.#writeSoon()
    })
  }

  async read(lane: number, after: LogPosition, maxCount: number): Promise<readonly LogEntry[]> {
    const tail = this.#tails[lane]
    if (tail === undefined) return []
    this.#forgetRead(tail, after)
    const stored =
      after >= tail.from // G2
        ? firstOf(tail.batches, maxCount)
        : await this.#ports.table.read(lane, after, maxCount)
    return stored.map(entryFrom)
  }

  watch(wake: (lane: number) => void): () => void {
    this.#watchers.add(wake)
    return () => this.#watchers.delete(wake)
  }

  async purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
  ): Promise<{ readonly purged: number }> {
    // A log that is half full gives room first and keeps for later inspection second.
    const isTight = this.#bytes > this.#options.bytesMax / 2
    const before = isTight ? Number.MAX_SAFE_INTEGER : olderThanMs
    const purged = await this.#ports.table.purge(lane, through, before, PURGE_ROWS_MAX)
    this.#bytes -= purged.bytes
    return { purged: purged.rows }
  }

  /** G1: lanes whose batches have all arrived, each in a message of its own, share one fsync. */
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
      const positions = await this.#ports.table.append(batches, this.#ports.nowMs())
      this.#appendedAll(group, positions) // W1
    } catch (error) {
      this.#ports.logger.error('the log cannot write', { error: String(error) })
      const refused = {
        kind: 'refused',
        reason: 'unavailable',
        retryAfterMs: RETRY_AFTER_MS,
      } as const
      for (const { batch, answer } of group) {
        this.#pendingBytes -= batch.payload.length
        answer(refused)
      }
    }
    this.#isWriting = false
    if (this.#pending.length > 0) this.#writeSoon()
  }

  #appendedAll(group: readonly Pending[], positions: readonly LogPosition[]): void {
    const woken = new Set<number>()
    for (const [index, { batch, answer }] of group.entries()) {
      const position = positions[index]
      if (position === undefined) throw new Error('the log table gave fewer positions than batches')
      const { length } = batch.payload
      this.#pendingBytes -= length
      this.#bytes += length
      this.#appended += batch.count
      this.#keepInTail({ ...batch, position })
      woken.add(batch.lane)
      answer({ kind: 'appended', position })
    }
    for (const lane of woken) for (const wake of this.#watchers) wake(lane)
  }

  #keepInTail(batch: StoredBatch): void {
    const tail = this.#tails[batch.lane]
    if (tail === undefined) return
    tail.batches.push(batch)
    this.#tailBytes += batch.payload.length
    if (this.#tailBytes <= this.#options.tailBytesMax) return
    // G2: the readers are far behind. The table has it all, so all of this lane's tail may go.
    this.#drop(tail, tail.batches.length)
  }

  /** A reader asks behind a position only when everything up to it is applied. */
  #forgetRead(tail: Tail, after: LogPosition): void {
    const kept = tail.batches.findIndex((batch) => batch.position > after)
    this.#drop(tail, kept < 0 ? tail.batches.length : kept)
  }

  #drop(tail: Tail, count: number): void {
    for (const { position, payload } of tail.batches.splice(0, count)) {
      tail.from = position
      this.#tailBytes -= payload.length
    }
  }
}

/** Whole batches of at most `maxCount` submissions, but at least one batch. */
function firstOf(batches: readonly StoredBatch[], maxCount: number): readonly StoredBatch[] {
  let count = 0
  const end = batches.findIndex((batch, index) => {
    count += batch.count
    return index > 0 && count > maxCount
  })
  return end < 0 ? batches : batches.slice(0, end)
}

function entryFrom({ lane, position, payload }: StoredBatch): LogEntry {
  return { lane, position, submissions: decodeBatch(payload) }
}
