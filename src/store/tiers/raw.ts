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
//   raw/3. It gets on, however much there is: it is whole up to a later time than it begins at. So
//     late readings take a quarter of the updates, what was accepted before it begins the next one,
//     and of one time it gives ALL_POINTS_MAX values. It says that it left some out.
//   raw/4. A long text counts as several values. (W7)

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
/** Characters of a value and the name of its attr from which on it counts as one more. */
const VALUE_CHARACTERS = 64
/** By so much a clock of a Thing may be ahead, and its readings are found all the same. */
const AHEAD_MS = 3_600_000
/** The feed has this share of the updates of a read; late readings have the rest. (raw/3) */
const FEED_SHARE = 3 / 4

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
  /** When the last one was accepted; 0 for none. */
  readonly lastAt: number
  /** Undefined behind the last part. */
  readonly next?: Cursor
}

/** What was read so far. */
interface State {
  /** The values of each attr as they came. */
  readonly found: Map<string, Point[]>
  /** The late readings among them, by the op_id of each. */
  readonly late: Set<string>
  /** Values, of which a long one counts as several. (raw/4) */
  points: number
  /** Values of this time and later ones are left out. */
  to: number
  /** The time of the Thing's newest entry that was read. */
  newest: number
  /** When the last entry that was read was accepted. */
  acceptedAt: number
  /** True once readings before `to` are left out. (raw/3) */
  isPartial: boolean
}

const FEED: Cursor = { after: 0, isLate: false }

/** `updatesMax`: updates of the channel that are unpacked. */
export async function rawSeries(
  database: Database,
  query: SeriesQuery,
  updatesMax: number,
): Promise<SeriesFound> {
  const { from, to } = query
  const state = stateOf(query)
  const pauses = new Pauses(database)
  let left = updatesMax
  for (let cursor: Cursor | undefined = { after: BEFORE_ALL, isLate: true }; cursor;) {
    const isHalf = left <= updatesMax / 2
    // raw/3: then what was accepted before it begins is stepped over.
    if (isHalf && !cursor.isLate && state.acceptedAt < from) state.isPartial = true
    const sinceMs = isHalf ? from : Math.max(0, from - AHEAD_MS)
    const reserved = cursor.isLate ? updatesMax * FEED_SHARE : isHalf ? 0 : updatesMax / 2
    const most = Math.min(Math.max(1, left - reserved), SLICE_UPDATES)
    const part: Part = { ...cursor, most, sinceMs }
    const slice: Slice = await database.snapshot((executor) => sliceOf(executor, query, part))
    if (cursor.isLate && left <= reserved && slice.count > 0) {
      state.isPartial = true // raw/3
      cursor = FEED
      continue
    }
    if (left <= 0 && slice.count > 0) {
      const read = state.newest > from ? state.newest : state.acceptedAt
      cut(state, Math.min(state.to, Math.max(read, from + 1))) // raw/1, raw/3
      break
    }
    for (const update of slice.updates) {
      take(state, update, query)
      await pauses.after(update.payload.length / BYTES_OF_STEP)
      // One sort of all times for as many values again.
      if (state.points >= 2 * ALL_POINTS_MAX) await keepEarliest(state, pauses, from)
    }
    left -= slice.count
    cursor = slice.next
    if (!part.isLate) state.acceptedAt = slice.lastAt
  }
  await keepEarliest(state, pauses, from)
  return {
    attrs: await columnsOf(state, pauses),
    ...(state.to < to && { wholeTo: state.to }),
    ...(state.isPartial && { isPartial: true }),
  }
}

const stateOf = ({ from, to }: SeriesQuery): State => ({
  found: new Map(),
  late: new Set(),
  points: 0,
  to,
  newest: from,
  acceptedAt: 0,
  isPartial: false,
})

/** raw/1 */
async function keepEarliest(state: State, pauses: Pauses, from: number): Promise<void> {
  if (state.points <= ALL_POINTS_MAX) return
  const times = new Float64Array(state.points)
  let count = 0
  for (const [attr, values] of state.found) {
    for (const { at, value } of values) {
      const end = count + pointsOf(attr, value)
      times.fill(at, count, end)
      count = end
    }
  }
  const to = times.sort()[ALL_POINTS_MAX] ?? state.to
  await pauses.after(count)
  cut(state, Math.max(to, from + 1))
  // raw/3: they are of one time, of each attr as many as all may have.
  if (state.points > ALL_POINTS_MAX) {
    state.isPartial = true
    const most = Math.floor(ALL_POINTS_MAX / state.found.size)
    let taken = 0
    keepOnly(state, (attr, { value }, place) => {
      taken = (place === 0 ? 0 : taken) + pointsOf(attr, value)
      return taken <= most
    })
  }
  await pauses.after(count)
}

function cut(state: State, to: number): void {
  state.to = to
  keepOnly(state, (_attr, { at }) => at < to)
}

interface Part extends Cursor {
  /** Updates behind which a slice ends with its block, unless it has SLICE_BLOCKS before. */
  readonly most: number
  /** Leaves out blocks of which every update was accepted before it. */
  readonly sinceMs: number
}

async function sliceOf(
  executor: Executor,
  query: SeriesQuery,
  { most, sinceMs, ...cursor }: Part,
): Promise<Slice> {
  const channel = await channelOf(executor, query.channelId)
  if (channel === undefined) return { count: 0, updates: [], lastAt: 0 }
  const { after, isLate } = cursor
  const behind = { channel, ...cursor, sinceMs, entityId: query.thingId }
  const updates: UpdateRow[] = []
  let count = 0
  let blocks = 0
  let lastAt = 0
  for await (const block of readingsBehind(executor, behind)) {
    // A block that was joined meanwhile may begin before the place.
    updates.push(...block.updates.filter(({ seq }) => seq === undefined || seq > after))
    count += block.count
    blocks += 1
    lastAt = block.lastAt
    if (count >= most || blocks === SLICE_BLOCKS)
      return { count, updates, lastAt, next: { after: block.lastSeq, isLate } }
  }
  return { count, updates, lastAt, ...(isLate && { next: FEED }) }
}

function take(state: State, update: UpdateRow, { attrs, from }: SeriesQuery): void {
  const { seq, opId, acceptedAt } = update
  if (endsThing(update)) {
    // raw/2: late readings may have come before the deletion that they are behind.
    keepOnly(state, (_attr, point) => point.acceptedAt > acceptedAt)
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
    state.points += pointsOf(attr, value)
  }
}

/** raw/4 */
const pointsOf = (attr: string, value: Value): number => {
  const characters = attr.length + (typeof value === 'string' ? value.length : 0)
  return 1 + Math.floor(characters / VALUE_CHARACTERS)
}

type IsKept = (attr: string, point: Point, place: number) => boolean

function keepOnly(state: State, isKept: IsKept): void {
  state.points = 0
  for (const [attr, values] of state.found) {
    const kept = values.filter((point, place) => isKept(attr, point, place))
    if (kept.length === 0) state.found.delete(attr)
    else state.found.set(attr, kept)
    for (const { value } of kept) state.points += pointsOf(attr, value)
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
