// Reads the embedded log for the owner of the lanes. The writer sends it every batch that is on the
// disk, so it seldom reads the table.
//
// Invariants:
//   embedded-reader/1. The tail in memory is a bounded cache of the table. Positions before the
//     tail come from the table.
//   embedded-reader/2. The writer sends batches in the order of positions; the reader drops those
//     that it has read from the table.

import type { LogEntry, LogBounds, LogPosition, StoredBatch } from '#domain/lane'
import type { LogReader, LogSource } from '#domain/ports'
import { decodeBatch } from '#src/schemas/batch'

export interface EmbeddedReaderOptions {
  readonly lanes: number
  readonly tailBytesMax: number
}

/** The part of one lane in memory: everything behind `from`, in order. */
interface Tail {
  from: LogPosition
  readonly batches: StoredBatch[]
}

/** The reading side of the log, in the thread of the actors. */
export class EmbeddedReader implements LogReader {
  readonly #source: LogSource
  readonly #tailBytesMax: number
  readonly #tails: readonly Tail[]
  readonly #watchers = new Set<(lane: number) => void>()
  #tailBytes = 0
  #appended = 0

  private constructor(source: LogSource, tailBytesMax: number, last: readonly LogPosition[]) {
    this.#source = source
    this.#tailBytesMax = tailBytesMax
    this.#tails = last.map((from) => ({ from, batches: [] }))
  }

  /**
   * Opens a reader that may miss batches which the writer sent before: the reader gets them from
   * the table, up to the bounds that it reads here.
   */
  static async open(
    source: LogSource,
    { lanes, tailBytesMax }: EmbeddedReaderOptions,
  ): Promise<EmbeddedReader> {
    const bounds = await Promise.all(
      Array.from({ length: lanes }, (_, lane) => source.bounds(lane)),
    )
    const last = bounds.map((one) => one.last)
    return new EmbeddedReader(source, tailBytesMax, last)
  }

  /** The number of submissions that the writer has sent since the start. */
  get appended(): number {
    return this.#appended
  }

  identity(): Promise<string> {
    return this.#source.identity()
  }

  bounds(lane: number): Promise<LogBounds> {
    return this.#source.bounds(lane)
  }

  async read(lane: number, after: LogPosition, maxCount: number): Promise<readonly LogEntry[]> {
    const tail = this.#tails[lane]
    if (tail === undefined) return []
    this.#dropApplied(tail, after)
    const stored =
      after >= tail.from // embedded-reader/1
        ? firstOf(tail.batches, maxCount)
        : await this.#source.read(lane, after, maxCount)
    return stored.map(entryFrom)
  }

  watch(wake: (lane: number) => void): () => void {
    this.#watchers.add(wake)
    return () => this.#watchers.delete(wake)
  }

  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
  ): Promise<{ readonly purged: number }> {
    return this.#source.purge(lane, through, olderThanMs)
  }

  /** Adds batches that are on the disk to their tails, and wakes the watchers. */
  take(batches: readonly StoredBatch[]): void {
    const woken = new Set<number>()
    for (const batch of batches) {
      this.#appended += batch.count
      this.#keepInTail(batch)
      woken.add(batch.lane)
    }
    for (const lane of woken) for (const wake of this.#watchers) wake(lane)
  }

  #keepInTail(batch: StoredBatch): void {
    const tail = this.#tails[batch.lane]
    if (tail === undefined || batch.position <= tail.from) return // embedded-reader/2
    tail.batches.push(batch)
    this.#tailBytes += Buffer.byteLength(batch.payload)
    if (this.#tailBytes <= this.#tailBytesMax) return
    // embedded-reader/1: the actors are far behind. The table has every batch, so the reader can
    // drop this lane's whole tail.
    this.#drop(tail, tail.batches.length)
  }

  /** The owner reads behind a position only after it has applied everything up to it. */
  #dropApplied(tail: Tail, after: LogPosition): void {
    const kept = tail.batches.findIndex((batch) => batch.position > after)
    this.#drop(tail, kept < 0 ? tail.batches.length : kept)
  }

  #drop(tail: Tail, count: number): void {
    for (const { position, payload } of tail.batches.splice(0, count)) {
      tail.from = position
      this.#tailBytes -= Buffer.byteLength(payload)
    }
  }
}

/**
 * Returns the first batches with at most `maxCount` submissions together, but at least one batch.
 */
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
