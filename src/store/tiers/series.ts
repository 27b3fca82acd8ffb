// Reads the series of a Thing: of a tier, merged with what is joined and in no tier yet, and with
// the blocks that are not joined.
//
// Invariants:
//   series/1. Chunks and blocks are read in one snapshot, so each update counts once, whether it is
//     joined or merged meanwhile.
//   series/2. A read takes a bounded part of them: the newest periods, the oldest blocks. It says
//     from which time of observation on, or up to which, it is whole: what the rest has of the time
//     between is late data. Where what is in no tier yet is too much, it gives nothing. (W7)
//     However many blocks there are, it gets on: it is whole up to a later bucket than it begins
//     at, or says that it left a part of that one out.
//   series/3. The snapshot reads what it needs as it is kept. It is unpacked and added up behind
//     it, with pauses: eight megabytes would hold turns up for a third of a second. (W7)
//   series/4. Columns with the same numbers are one array, as the times of attrs are that are told
//     together, and all of a Thing that tells one reading a bucket. So they cross between threads
//     once, and are written once. (json-parts/2)

import { ALL_POINTS_MAX, PERIOD_MS, TIER_MS } from '#domain/history/series'
import type { BucketColumns, SeriesFound, SeriesQuery } from '#domain/history/series'
import type { SeriesStore, Tier } from '#domain/history/series'
import type { Meter } from '#domain/telemetry'
import type { TierChunkRow } from '#src/store/entities/tiers'
import { channelOf } from '#src/store/feed/channel-of'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { Pauses } from '#src/store/jobs/pauses'
import { allIn } from '#src/store/statements/bulk'
import { Buckets, NONE } from './buckets.ts'
import { beginsOf, placeOf } from './cells.ts'
import { addChunk } from './chunk.ts'
import { JOINED } from './chunk-rows.ts'
import { COUNT, LAST, MAX, MIN, SUM, numberAt } from './rows.ts'
import { addItem } from './contributions.ts'
import { UPDATES_MAX, rawSeries } from './raw.ts'
import { KnownBlocks } from './known-blocks.ts'
import { endsThing } from './readings.ts'
import { BLOCKS_MAX, Unjoined } from './unjoined.ts'
import type { Found } from './unjoined.ts'

/** Bytes of chunks before compression that one read takes. */
const CHUNK_BYTES_MAX = 8 * 2 ** 20
/** Bytes that take a step to unpack and to add: a bucket has twenty. */
const BYTES_OF_STEP = 20

/** What one read unpacks: updates of raw series, and blocks that are not joined for a tier. */
const UNPACKED = { updates: UPDATES_MAX, blocks: BLOCKS_MAX }

export class SeriesReading implements SeriesStore {
  readonly #database: Database
  readonly #blocks: KnownBlocks
  readonly #most: typeof UNPACKED

  constructor(database: Database, meter: Meter, most: Partial<typeof UNPACKED> = {}) {
    this.#database = database
    this.#blocks = new KnownBlocks(meter)
    this.#most = { ...UNPACKED, ...most }
  }

  async series(query: SeriesQuery): Promise<SeriesFound> {
    const { step, channelId } = query
    const database = this.#database
    if (step === 'raw') return rawSeries(database, query, this.#most.updates)
    const channel = await database.read((executor) => channelOf(executor, channelId))
    if (channel === undefined) return NOTHING
    const since = query.from - (query.from % TIER_MS[step])
    const wanted = { channel, thingId: query.thingId, since }
    const unjoined = new Unjoined(this.#blocks, wanted, this.#most.blocks)
    await unjoined.readAhead(database)
    // series/1
    const read = await database.snapshot(async (executor) => {
      const isThere = (await channelOf(executor, channelId)) === channel
      return isThere ? readFor(executor, { channel, query, tier: step, unjoined }) : undefined
    })
    return read === undefined ? NOTHING : addedUp(read, query, step, new Pauses(database))
  }
}

const NOTHING: SeriesFound = { attrs: {} }

interface Reading {
  readonly channel: number
  readonly query: SeriesQuery
  readonly tier: Tier
  readonly unjoined: Unjoined
}

/** A snapshot gives this for a series, still packed. */
interface Kept {
  /** In the order of their runs. */
  readonly chunks: readonly (Pick<Held, 'bytes'> & Pick<TierChunkRow, 'content'>)[]
  readonly wholeFrom: number | undefined
  readonly unjoined: Found
}

async function readFor(
  executor: Executor,
  { channel, query, tier, unjoined }: Reading,
): Promise<Kept> {
  const { chunks, wholeFrom } = await chunksOf(executor, channel, query, tier)
  const contents = await allIn<Pick<Held, 'id'> & Pick<TierChunkRow, 'content'>>(
    executor,
    chunks.map(({ id }) => id),
    (list) => `SELECT id, content FROM tier_chunks WHERE id IN (${list})`,
  )
  const byId = new Map(contents.map(({ id, content }) => [id, content]))
  return {
    chunks: chunks.flatMap(({ id, bytes }) => {
      const content = byId.get(id)
      return content === undefined ? [] : [{ bytes, content }]
    }),
    wholeFrom,
    unjoined: await unjoined.found(executor),
  }
}

/** series/3 */
async function addedUp(
  { chunks, wholeFrom: keptFrom, unjoined: { updates, upTo, isSince } }: Kept,
  query: SeriesQuery,
  tier: Tier,
  pauses: Pauses,
): Promise<SeriesFound> {
  const buckets = new Buckets(TIER_MS[tier])
  const wanted = query.attrs === undefined ? undefined : new Set(query.attrs)
  const isWanted = (thing: string, attr: string): boolean =>
    thing === query.thingId && wanted?.has(attr) !== false
  for (const { content, bytes } of chunks) {
    addChunk(buckets, content, isWanted)
    await pauses.after(bytes / BYTES_OF_STEP)
  }
  for (const update of updates) {
    if (endsThing(update)) buckets.drop(query.thingId)
    else addItem(buckets, update)
    await pauses.after(update.payload.length / BYTES_OF_STEP)
  }
  const { to, isPartial } = endOf(buckets, query, { upTo, width: TIER_MS[tier] })
  // Of earlier periods there may be late data alone, which is joined or not: no whole bucket.
  const within = { ...query, from: Math.max(query.from, keptFrom ?? 0), to }
  const found = await columnsOf(buckets, within, { width: TIER_MS[tier], wanted, pauses })
  const from = Math.max(found.wholeFrom ?? 0, keptFrom ?? 0)
  return {
    attrs: found.attrs,
    ...(from > 0 && { wholeFrom: from }),
    ...(to < query.to && { wholeTo: to }),
    ...((isPartial || isSince) && { isPartial: true }),
  }
}

interface Blocks {
  /** When the last one that was taken was accepted; undefined for all of them. */
  readonly upTo: number | undefined
  readonly width: number
}

/** series/2: up to when a series is whole, or up to behind its first bucket, which is not. */
function endOf(
  buckets: Buckets,
  query: SeriesQuery,
  { upTo, width }: Blocks,
): { readonly to: number; readonly isPartial: boolean } {
  if (upTo === undefined) return { to: query.to, isPartial: false }
  const begin = (at: number): number => at - (at % width)
  const newest = newestOf(buckets, query)
  const whole = newest > query.from ? newest : begin(upTo)
  const least = begin(query.from) + width
  return { to: Math.min(query.to, Math.max(whole, least)), isPartial: whole < least }
}

/** When the newest bucket of a Thing begins; `from` without any. */
function newestOf(buckets: Buckets, { thingId, from }: SeriesQuery): number {
  let newest = from
  for (const series of buckets.things.get(thingId) ?? []) {
    let bucket = buckets.firstOf(series)
    for (; bucket !== NONE; bucket = buckets.nextOf(bucket)) {
      newest = Math.max(newest, buckets.beginOf(bucket))
    }
  }
  return newest
}

type Held = Pick<TierChunkRow, 'tier' | 'period' | 'run' | 'bytes'> & { readonly id: number }

/** The chunks that may have buckets of the Thing, in the order of their runs. (buckets/1) */
async function chunksOf(
  executor: Executor,
  channel: number,
  { thingId, from, to }: SeriesQuery,
  tier: Tier,
): Promise<{ readonly chunks: readonly Held[]; readonly wholeFrom?: number }> {
  const place = placeOf(thingId)
  const begins = beginsOf(place)
  // Chunks of runs before its deletion have nothing of it any more. (merging/2)
  const cut = await executor.first<{ run: number | null }>(
    'SELECT max(run) AS run FROM tier_cuts WHERE channel = ? AND thing_id = ?',
    [channel, thingId],
  )
  const rows = await executor.all<Held>(
    `SELECT id, tier, period, run, bytes FROM tier_chunks
      WHERE channel = ? AND first_place IN (${begins.map(() => '?').join(', ')})
        AND ((tier = ? AND period >= ? AND period <= ?) OR tier = ?)
        AND last_place >= ? AND run >= ?`,
    [
      channel,
      ...begins,
      TIER_MS[tier],
      from - (from % PERIOD_MS[tier]),
      to,
      JOINED.tier,
      place,
      cut?.run ?? 0,
    ],
  )
  // series/2: what is joined and in no tier yet, then the newest periods.
  const age = ({ tier: of, period }: Held): number => (of === JOINED.tier ? -Infinity : -period)
  const newestFirst = rows.toSorted((one, other) => age(one) - age(other))
  let bytes = 0
  const beyond = newestFirst.findIndex((row) => (bytes += row.bytes) > CHUNK_BYTES_MAX)
  const next = newestFirst[beyond]
  // A period is read whole or not at all.
  const read = next === undefined ? rows : rows.filter((row) => age(row) < age(next))
  const chunks = read.toSorted((one, other) => one.run - other.run || one.id - other.id)
  if (next === undefined) return { chunks }
  // Chunks that no tier has yet may hold any time: nothing is whole without them.
  return { chunks, wholeFrom: next.tier === JOINED.tier ? to : next.period + PERIOD_MS[tier] }
}

interface Columns {
  readonly width: number
  readonly wanted: ReadonlySet<string> | undefined
  readonly pauses: Pauses
}

async function columnsOf(
  buckets: Buckets,
  { thingId, from, to }: SeriesQuery,
  { width, wanted, pauses }: Columns,
): Promise<Pick<SeriesFound, 'attrs' | 'wholeFrom'>> {
  const first = from - (from % width)
  const lists: { readonly attr: string; readonly within: readonly number[] }[] = []
  for (const series of buckets.things.get(thingId) ?? []) {
    const attr = buckets.nameOf(buckets.attrOf(series))
    const within: number[] = []
    let bucket = buckets.firstOf(series)
    for (; bucket !== NONE; bucket = buckets.nextOf(bucket)) {
      const begin = buckets.beginOf(bucket)
      if (begin >= first && begin < to) within.push(bucket)
    }
    const isAsked = wanted?.has(attr) !== false
    if (within.length > 0 && isAsked) lists.push({ attr, within })
    await pauses.after(buckets.sizeOf(series))
  }
  // series/2: the newest points, as many of each attr as all may have.
  const most = Math.floor(ALL_POINTS_MAX / Math.max(1, lists.length))
  const cut = lists.flatMap(({ within }) => {
    const oldest = within.length > most ? within.at(-most) : undefined
    return oldest === undefined ? [] : [buckets.beginOf(oldest)]
  })
  const wholeFrom = Math.max(...cut)
  const attrs: (readonly [string, BucketColumns])[] = []
  let times: readonly number[] = []
  for (const { attr, within } of lists) {
    const kept = within.filter((bucket) => buckets.beginOf(bucket) >= wholeFrom)
    const own = kept.map((bucket) => buckets.beginOf(bucket))
    if (!isEqual(own, times)) times = own // series/4
    attrs.push([attr, { times, ...bucketColumns(buckets, kept) }])
    await pauses.after(within.length)
  }
  return { attrs: Object.fromEntries(attrs), ...(cut.length > 0 && { wholeFrom }) }
}

const isEqual = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index])

function bucketColumns(buckets: Buckets, kept: readonly number[]): Omit<BucketColumns, 'times'> {
  const { numbers } = buckets
  const of = (place: number): number[] => kept.map((bucket) => numberAt(numbers, bucket + place))
  const count = of(COUNT)
  const last = of(LAST)
  if (count.every((readings) => readings === 1)) {
    return { min: last, max: last, mean: last, last, count } // series/4
  }
  // A sum is rounded, and may be beyond what a double holds; a mean is not.
  const meanOf = (bucket: number): number => {
    const sum = numberAt(numbers, bucket + SUM)
    const [min, max] = [numberAt(numbers, bucket + MIN), numberAt(numbers, bucket + MAX)]
    // Of one part it was beyond one end, of another beyond the other.
    if (Number.isNaN(sum)) return min / 2 + max / 2
    return Math.min(max, Math.max(min, sum / numberAt(numbers, bucket + COUNT)))
  }
  return { min: of(MIN), max: of(MAX), mean: kept.map(meanOf), last, count }
}
