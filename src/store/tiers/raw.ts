// Reads the readings of a Thing themselves, of the blocks that are kept.
//
// Blocks of late readings alone come first, then those that entries of the feed are in, in the
// order of the feed. Joining may move a late reading from the first to the second meanwhile.
//
// Invariants:
//   raw/1. A read takes at most UPDATES_MAX updates of the channel, in slices between which other
//     jobs go, and gives the earliest ALL_POINTS_MAX values. It says up to which time of
//     observation it is whole: what the rest has of an earlier time is late data. It pauses while
//     it works on the values. (W7)
//   raw/2. A late reading counts once, wherever it is met, and a deletion takes what was accepted
//     before it.

import { ALL_POINTS_MAX } from '#domain/history/series'
import type { RawColumns, SeriesFound, SeriesQuery } from '#domain/history/series'
import { channelOf } from '#src/store/feed/channel-of'
import type { UpdateRow } from '#src/store/feed/update-blocks'
import { BEFORE_ALL, readingsBehind } from '#src/store/feed/update-places'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { Pauses } from '#src/store/jobs/pauses'
import { endsThing, readingOf } from './readings.ts'

/** Updates of a channel that one read unpacks: half a second of work. */
export const UPDATES_MAX = 262_144
/** Those of a slice: a few follow one another before a turn may begin. (gate/3) */
const SLICE_UPDATES = 1_024
/** Blocks of a slice, which may have one of them each, and over a hundred of other channels. */
const SLICE_BLOCKS = 16
/** Bytes of a payload that take a step to read. (jobs/pauses.ts) */
const BYTES_OF_STEP = 20
/** By so much a clock of a Thing may be ahead, and its readings are found all the same. */
const AHEAD_MS = 3_600_000

type Value = RawColumns['values'][number]

interface Point {
  readonly at: number
  readonly value: Value
  readonly acceptedAt: number
}

/** A place behind which a read goes on. */
interface Cursor {
  readonly after: number
  readonly isLate: boolean
}

/** A part of the updates of a channel. */
interface Slice {
  /** How many there are. */
  readonly count: number
  /** Those of the Thing among them. */
  readonly updates: readonly UpdateRow[]
  /** Undefined behind the last part. */
  readonly next?: Cursor
}

/** What was read so far. */
interface State {
  /** The values of each attr as they came. */
  readonly found: Map<string, Point[]>
  /** The late readings among them, by the op_id of each. */
  readonly late: Set<string>
  points: number
  /** Values of this time and later ones are left out. */
  to: number
  /** The time of the newest entry that was read. */
  newest: number
}

/** `updatesMax`: updates of the channel that are unpacked. */
export async function rawSeries(
  database: Database,
  query: SeriesQuery,
  updatesMax: number,
): Promise<SeriesFound> {
  const { from, to } = query
  const state: State = { found: new Map(), late: new Set(), points: 0, to, newest: from }
  const pauses = new Pauses(database)
  let left = updatesMax
  for (let cursor: Cursor | undefined = { after: BEFORE_ALL, isLate: true }; cursor;) {
    const part = { ...cursor, most: Math.min(left, SLICE_UPDATES) }
    const slice: Slice = await database.snapshot((executor) => sliceOf(executor, query, part))
    if (left <= 0 && slice.count > 0) {
      cut(state, Math.min(state.to, state.newest)) // raw/1
      break
    }
    for (const update of slice.updates) {
      take(state, update, query)
      await pauses.after(update.payload.length / BYTES_OF_STEP)
      // One sort of all times for as many values again.
      if (state.points >= 2 * ALL_POINTS_MAX) await keepEarliest(state, pauses)
    }
    left -= slice.count
    cursor = slice.next
  }
  await keepEarliest(state, pauses)
  return { attrs: await columnsOf(state, pauses), ...(state.to < to && { wholeTo: state.to }) }
}

/** raw/1 */
async function keepEarliest(state: State, pauses: Pauses): Promise<void> {
  if (state.points <= ALL_POINTS_MAX) return
  const times = new Float64Array(state.points)
  let count = 0
  for (const values of state.found.values()) for (const { at } of values) times[count++] = at
  const to = times.sort()[ALL_POINTS_MAX] ?? state.to
  await pauses.after(count)
  cut(state, to)
  await pauses.after(count)
}

function cut(state: State, to: number): void {
  state.to = to
  keepOnly(state, ({ at }) => at < to)
}

/** `most`: updates behind which a slice ends with its block, unless it has SLICE_BLOCKS before. */
async function sliceOf(
  executor: Executor,
  query: SeriesQuery,
  { most, ...cursor }: Cursor & { readonly most: number },
): Promise<Slice> {
  const channel = await channelOf(executor, query.channelId)
  if (channel === undefined) return { count: 0, updates: [] }
  const { after, isLate } = cursor
  const sinceMs = Math.max(0, query.from - AHEAD_MS)
  const behind = { channel, ...cursor, sinceMs, entityId: query.thingId }
  const updates: UpdateRow[] = []
  let count = 0
  let blocks = 0
  for await (const block of readingsBehind(executor, behind)) {
    // A block that was joined meanwhile may begin before the place.
    updates.push(...block.updates.filter(({ seq }) => seq === undefined || seq > after))
    count += block.count
    blocks += 1
    if (count >= most || blocks === SLICE_BLOCKS)
      return { count, updates, next: { after: block.lastSeq, isLate } }
  }
  return { count, updates, ...(isLate && { next: { after: 0, isLate: false } }) }
}

function take(state: State, update: UpdateRow, { attrs, from }: SeriesQuery): void {
  const { seq, opId, acceptedAt } = update
  if (endsThing(update)) {
    // raw/2: late readings may have come before the deletion that they are behind.
    keepOnly(state, (point) => point.acceptedAt > acceptedAt)
    return
  }
  const { found, late, to } = state
  const reading = readingOf(update)
  if (reading === undefined) return
  if (seq !== undefined) state.newest = Math.max(state.newest, reading.at)
  if (reading.at < from || reading.at >= to) return
  if (seq === undefined) {
    if (late.has(opId)) return // raw/2
    late.add(opId)
  }
  for (const [attr, value] of Object.entries(reading.attrs)) {
    if (!isScalar(value) || attrs?.includes(attr) === false) continue
    const values = found.get(attr)
    const point = { at: reading.at, value, acceptedAt }
    if (values === undefined) found.set(attr, [point])
    else values.push(point)
    state.points += 1
  }
}

function keepOnly(state: State, isKept: (point: Point) => boolean): void {
  state.points = 0
  for (const [attr, values] of state.found) {
    const kept = values.filter(isKept)
    if (kept.length === 0) state.found.delete(attr)
    else state.found.set(attr, kept)
    state.points += kept.length
  }
}

const isScalar = (value: unknown): value is Value =>
  typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'

async function columnsOf({ found }: State, pauses: Pauses): Promise<SeriesFound['attrs']> {
  const columns: (readonly [string, RawColumns])[] = []
  for (const [attr, values] of found) {
    // Two readings of one time stay in the order in which they were accepted.
    const inOrder = values.toSorted(
      (one, other) => one.at - other.at || one.acceptedAt - other.acceptedAt,
    )
    const times = inOrder.map(({ at }) => at)
    columns.push([attr, { times, values: inOrder.map(({ value }) => value) }])
    await pauses.after(values.length)
  }
  return Object.fromEntries(columns)
}
