// The one rule for the deliverables of a channel, which a device has yet to see: behind its
// position p and since its subscription s. (decisions.md 9)
//
//   Messages and Events: each entry with seq > p and seq > s.
//   Things: each Thing whose last change has seq > p, once; a deleted one only when that seq > s,
//   or behind the position that the device had before it subscribed (`deletedSince`).
//
// Catching up, pulling and acknowledging single entries all read by this rule, so that they agree.
//
// Invariants:
//   deliverables/1. Where deleted Things may be left out, a read steps over at most SCANNED_MAX
//     Things of a channel: then it ends early, and tells up to which seq it has looked. Whoever has
//     found nothing goes on from there in a job of its own, so that a million tombstones hold no
//     turn up. What was left out stays so: whatever changes gets a seq behind the head. (W7)

import type { FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import { entitiesInEach, seqsUpTo } from '#src/store/statements/last-changes'
import type { ChangesBetween } from '#src/store/statements/last-changes'
import type { Executor } from '#src/store/jobs/executor'
import { syncEntry } from '#src/store/turns/document'
import type { ThingRow } from '#src/store/entities/entities'
import type { FeedRow } from '#src/store/entities/feed'
import { allForEach } from '#src/store/statements/gathered'
import { SCANNED_MAX } from '#src/store/statements/paging'
import { contentOf, fill, sizeColumns } from '#src/store/statements/sized'
import type { ContentTable, RoomInBytes, Sequenced, Sized } from '#src/store/statements/sized'

/** What a device has of one channel's feed. */
interface Progress {
  readonly channel: number
  /** p */
  readonly afterSeq: number
  /** s */
  readonly sinceSeq: number
  readonly deletedSince?: number
  /** The seq up to which an earlier read has found nothing. (deliverables/1) */
  readonly scannedTo?: number | undefined
}

/** What a device has of a feed, and the number of deliverables to read behind it. */
export interface DeliverablesQuery extends Progress {
  readonly channelId: ChannelId
  /** The greatest number of deliverables. */
  readonly limit: number
  /** Leaves out the deliverables with these seqs. */
  readonly leftOut?: ReadonlySet<number>
}

/** Deliverables of one channel that follow one another. */
export interface Deliverables {
  /** In seq order. */
  readonly entries: readonly FeedEntry[]
  /** True when no more of the channel follow. */
  readonly isComplete: boolean
  /** Where there are none so far: the seq behind which some may follow. (deliverables/1) */
  readonly scannedTo?: number
}

/** Columns of a row of the feed, in the names of FeedEntry. */
export const FEED_COLUMNS = `seq, op_id AS opId, model, action, entity_id AS entityId, state, rev,
  accepted_at AS acceptedAt, payload`

export type StoredEntry = Omit<FeedRow, 'channel'>

export function entryFrom(channelId: ChannelId, row: StoredEntry): FeedEntry {
  const { seq, opId, model, action, entityId, state, rev, acceptedAt, payload } = row
  if (state === null || rev === null) {
    return { channelId, seq, opId, model, action, entityId, acceptedAt, payload }
  }
  return { channelId, seq, opId, model, action, entityId, acceptedAt, payload, state, rev }
}

/**
 * The next deliverables of each query, each of another channel, as far as a page has room in
 * bytes: those of the first ones when that ends before the last. `left` is the room behind them.
 */
export async function deliverables(
  executor: Executor,
  queries: readonly DeliverablesQuery[],
  room: RoomInBytes,
): Promise<{ readonly found: readonly Deliverables[]; readonly left: RoomInBytes }> {
  // One more than there is room for tells whether more follow.
  const sizes = await rowsIn<Sized, DeliverablesQuery>(executor, queries, {
    columnsOf: sizeColumns,
    limitOf: ({ limit, leftOut }) => limit + 1 + (leftOut?.size ?? 0),
  })
  const fitting: Fitting[] = []
  const parts: (Omit<Deliverables, 'entries'> & { readonly channel: number })[] = []
  let left = room
  for (const [at, { channel, channelId, limit, leftOut }] of queries.entries()) {
    const { rows: all, end } = sizes[at] ?? NO_ROWS
    const open = leftOut === undefined ? all : all.filter(({ seq }) => !leftOut.has(seq))
    const filled = fill(open, { ...left, items: limit })
    if (filled.count === 0 && open.length > 0) break
    left = filled.left
    const isComplete = filled.count === open.length && end === undefined
    const scannedTo = open.length === 0 && end !== undefined ? { scannedTo: end } : {}
    parts.push({ channel, isComplete, ...scannedTo })
    for (const row of open.slice(0, filled.count)) fitting.push({ ...row, channel, channelId })
  }
  const entries = await entriesOf(executor, fitting)
  const found = parts.map(({ channel, ...part }) => ({
    entries: entries.get(channel) ?? [],
    ...part,
  }))
  return { found, left }
}

/**
 * The seqs of the next deliverables, at most `limit`. `end`: the seq up to which it has looked,
 * where it has not looked at all. (deliverables/1)
 */
export async function deliverableSeqs(
  executor: Executor,
  progress: Progress,
  limit: number,
): Promise<{ readonly seqs: readonly number[]; readonly end?: number | undefined }> {
  const asked = { columnsOf: () => 'seq', limitOf: () => limit }
  const [{ rows, end } = NO_ROWS] = await rowsIn<Sequenced>(executor, [progress], asked)
  return { seqs: rows.map(({ seq }) => seq), end }
}

interface FoundIn {
  readonly table: 'feed_entries' | 'things'
}

/** A row that the page has room for. */
type Fitting = Sized & FoundIn & Pick<DeliverablesQuery, 'channel' | 'channelId'>

interface Selection<One> {
  readonly columnsOf: (table: ContentTable) => string
  /** Rows of each, at most. */
  readonly limitOf: (one: One) => number
}

/** Rows of both tables in seq order. */
interface Rows<Row> {
  readonly rows: readonly (Row & FoundIn)[]
  /** The seq up to which they are whole, where that is not the head. (deliverables/1) */
  readonly end: number | undefined
}

const NO_ROWS: Rows<never> = { rows: [], end: undefined }

/** The rows for each of the devices' feeds. */
async function rowsIn<Row extends Sequenced, One extends Progress = Progress>(
  executor: Executor,
  feeds: readonly One[],
  { columnsOf, limitOf }: Selection<One>,
): Promise<readonly Rows<Row>[]> {
  const ends = await endsOf(executor, feeds)
  const entries = await allForEach<Row>(
    executor,
    `SELECT ${columnsOf('feed_entries')}
      FROM feed_entries WHERE channel = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    feeds.map((feed, at) => {
      const { channel, sinceSeq } = feed
      const after = Math.max(startOf(feed), sinceSeq)
      return [channel, after, ends[at] ?? Number.MAX_SAFE_INTEGER, limitOf(feed)]
    }),
  )
  const changes = feeds.map((feed, at) => {
    const { sinceSeq, deletedSince = sinceSeq } = feed
    const filter = { sql: ` AND (state <> 'deleted' OR seq > ?)`, parameters: [deletedSince] }
    const end = ends[at]
    const until = end === undefined ? {} : { before: end + 1 }
    return { ...thingsBehind(feed), ...until, filter, limit: limitOf(feed) }
  })
  const things = await entitiesInEach<Row>(executor, changes, {
    columns: columnsOf('things'),
    order: 'oldest first',
  })
  return feeds.map((feed, at) => ({
    end: ends[at],
    rows: mergeBySeq(
      (entries[at] ?? []).map((row) => ({ ...row, table: 'feed_entries' as const })),
      (things[at] ?? []).map((row) => ({ ...row, table: 'things' as const })),
      limitOf(feed),
    ),
  }))
}

const startOf = ({ afterSeq, scannedTo = 0 }: Progress): number => Math.max(afterSeq, scannedTo)

const thingsBehind = (feed: Progress): ChangesBetween => ({
  table: 'things',
  channel: feed.channel,
  after: startOf(feed),
})

/** Up to where a read looks; undefined for the head. (deliverables/1) */
async function endsOf(
  executor: Executor,
  feeds: readonly Progress[],
): Promise<readonly (number | undefined)[]> {
  const mayLeaveOut = (feed: Progress): boolean =>
    (feed.deletedSince ?? feed.sinceSeq) > startOf(feed)
  const bounded = feeds.filter(mayLeaveOut)
  const ends = await seqsUpTo(executor, bounded.map(thingsBehind), SCANNED_MAX)
  const endOf = new Map(bounded.map((feed, at) => [feed, ends[at]]))
  return feeds.map((feed) => endOf.get(feed))
}

/** The entries behind rows whose sizes are known: in seq order, by channel. */
async function entriesOf(
  executor: Executor,
  rows: readonly Fitting[],
): Promise<ReadonlyMap<number, readonly FeedEntry[]>> {
  const stored = await contentOf<StoredEntry>(
    executor,
    { table: 'feed_entries', columns: FEED_COLUMNS },
    rows.filter(({ table }) => table === 'feed_entries'),
  )
  const things = await contentOf<Omit<ThingRow, 'channel'>>(
    executor,
    { table: 'things', columns: 'id, state, seq, op_id AS opId, document' },
    rows.filter(({ table }) => table === 'things'),
  )
  const idOf = new Map(rows.map(({ channel, channelId }) => [channel, channelId]))
  const entries = new Map<number, FeedEntry[]>()
  const add = (channel: number, make: (channelId: ChannelId) => FeedEntry): void => {
    const channelId = idOf.get(channel)
    const known = entries.get(channel)
    if (channelId === undefined) return
    if (known === undefined) entries.set(channel, [make(channelId)])
    else known.push(make(channelId))
  }
  for (const row of stored) add(row.channel, (channelId) => entryFrom(channelId, row))
  for (const row of things) add(row.channel, (channelId) => syncEntry(channelId, row))
  for (const each of entries.values()) each.sort((one, other) => one.seq - other.seq)
  return entries
}

/** Merges two lists in seq order, cut at `limit`. */
export function mergeBySeq<A extends Sequenced, B extends Sequenced>(
  first: readonly A[],
  second: readonly B[],
  limit: number,
): (A | B)[] {
  const merged: (A | B)[] = [...first, ...second]
  merged.sort((a, b) => a.seq - b.seq)
  return merged.slice(0, limit)
}
