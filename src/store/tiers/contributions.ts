// What the updates of a run bring to the tiers: chunks of their readings, and deletions of Things.
//
// Invariants:
//   contributions/1. They are written in the transaction that replaces the blocks of the run: so an
//     update counts once, whoever else joins, and whenever the process ends. (joining/1)
//   contributions/2. What was read of a Thing before its deletion counts no more.
//   contributions/3. What is gathered at a time is bounded: a run may hold a million readings. (W7)

import { TIER_ATTRS_MAX, TIER_MS } from '#domain/history/series'
import type { TierChunkRow, TierCutRow } from '#src/store/entities/tiers'
import type { UpdateOf } from '#src/store/feed/update-blocks'
import { Buckets } from './buckets.ts'
import { WHOLE, placeOf } from './cells.ts'
import { JOINED, rowsOf } from './chunk-rows.ts'
import { endsThing, readingOf } from './readings.ts'

export interface Contributions {
  readonly chunks: TierChunkRow[]
  readonly cuts: TierCutRow[]
  /** Readings of attrs beyond the limit of a Thing. */
  leftOut: number
}

export interface OfRun {
  /** The number that orders this run behind the earlier ones of each channel. */
  readonly runs: ReadonlyMap<number, number>
  readonly nowMs: number
  /** Lets other jobs go before the next slice. */
  readonly pause: () => Promise<void>
}

/** Updates after which others go first: some 2 ms. */
const SLICE_UPDATES = 1_024
/** Buckets of one part of a run: 1.3 MB of chunks. (contributions/3) */
const PART_BUCKETS = 65_536
/** Numbers of parts within a run. */
const PARTS_MAX = 64

/** What updates bring that come in the order of channel and seq. */
export async function contributionsOf(
  updates: readonly UpdateOf[],
  { runs, nowMs, pause }: OfRun,
): Promise<Contributions> {
  const found: Contributions = { chunks: [], cuts: [], leftOut: 0 }
  // One for all parts, as long as it has to be: growing would take as much as what is added.
  const buckets = new Buckets(TIER_MS['5m'], PART_BUCKETS + TIER_ATTRS_MAX)
  for (let start = 0, end; start < updates.length; start = end) {
    const channel = updates[start]?.ref ?? 0
    const part = new Part(buckets, { channel, run: (runs.get(channel) ?? 0) * PARTS_MAX, nowMs })
    for (end = start; updates[end]?.ref === channel; end += 1) {
      const item = updates[end]?.item
      if (item !== undefined) part.take(item)
      if (end % SLICE_UPDATES === 0) await pause()
      if (part.isFull) await part.write(found, pause) // contributions/3
    }
    await part.write(found, pause)
  }
  return found
}

interface OfPart {
  readonly channel: number
  readonly run: number
  readonly nowMs: number
}

/** A part of what a run has of one channel. */
class Part {
  readonly #channel: number
  readonly #nowMs: number
  readonly #ended = new Set<string>()
  readonly #buckets: Buckets
  #run: number

  /** `buckets`: empty. */
  constructor(buckets: Buckets, { channel, run, nowMs }: OfPart) {
    this.#buckets = buckets
    this.#channel = channel
    this.#run = run
    this.#nowMs = nowMs
  }

  get isFull(): boolean {
    return this.#buckets.size >= PART_BUCKETS
  }

  take(item: UpdateOf['item']): void {
    if (endsThing(item)) {
      this.#ended.add(item.entityId)
      this.#buckets.drop(item.entityId) // contributions/2
    } else addItem(this.#buckets, item)
  }

  async write(found: Contributions, pause: OfRun['pause']): Promise<void> {
    const channel = this.#channel
    const run = this.#run
    for (const thingId of this.#ended) {
      found.cuts.push({ channel, thingId, place: placeOf(thingId), run, doneId: 0 })
    }
    const target = { channel, ...JOINED, level: 0, run, within: WHOLE, nowMs: this.#nowMs }
    for (const row of rowsOf(this.#buckets, target)) {
      found.chunks.push(row)
      if (row.bytes > SMALL_BYTES) await pause()
    }
    found.leftOut += this.#buckets.leftOut
    this.#ended.clear()
    this.#buckets.clear()
    this.#run += 1
  }
}

/** Bytes of a chunk that is written in no time. */
const SMALL_BYTES = 8_192

/** Adds the numbers of an item of a block. */
export function addItem(buckets: Buckets, item: UpdateOf['item']): void {
  const reading = readingOf(item)
  if (reading === undefined) return
  const { at, attrs } = reading
  const list = buckets.seriesOf(item.entityId)
  let place = 0
  for (const attr in attrs) {
    const value = attrs[attr]
    if (typeof value !== 'number' || !Number.isFinite(value)) continue
    buckets.read(buckets.seriesIn(list, attr, place), at, value)
    place += 1
  }
}
