// A channel's feed in seq order: rows of Messages and Events and blocks of updates read as one,
// bounded steps at a time. (paging/1)
//
// Invariants:
//   history/1. A page ends at the head of the channel that was read before all else: what it has up
//     to there is committed, and no entry changes. So blocks are read in slices, each a job of its
//     own, and a turn need not wait for hundreds of them. (gate/3, W7)

import type { FeedEntry } from '#domain/feed'
import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { HistoryPage, Page } from '#domain/store-ports'
import type { FeedRow } from '#src/store/entities/feed'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { FEED_COLUMNS, entryFrom, mergeBySeq } from './deliverables.ts'
import { updatesBehind } from './update-places.ts'
import type { StoredEntry } from './deliverables.ts'
import { SCANNED_MAX, beginning, beginsWith, pageOf } from '#src/store/statements/paging'
import type { Filter } from '#src/store/statements/paging'
import { contentOf, fill, roomFor, sizeColumns } from '#src/store/statements/sized'
import type { Sized } from '#src/store/statements/sized'

/**
 * Rows of one probe. Twenty probes find a place among a million rows: together they read as many as
 * a page may. (paging/1)
 */
const PROBED_ROWS = 100
/**
 * Blocks of a slice, some 2 ms: with many channels a block that is not joined may have one update
 * of this channel and over a hundred of others.
 */
const SLICE_BLOCKS = 16

interface Head {
  readonly channel: number
  readonly headSeq: number
}

/** A page of a channel's feed; empty for a channel that is not there. (history/1) */
export async function history(database: Database, query: HistoryQuery): Promise<HistoryPage> {
  const head = await database.first<Head>(
    `SELECT h.channel, h.head_seq AS headSeq
      FROM channels c JOIN channel_heads h ON h.channel = c.id
      WHERE c.channel_id = ? AND c.is_deleted = 0`,
    [query.channelId],
  )
  if (head === undefined) return { items: [], headSeq: 0 }
  const filter = filterOf(head.channel, query)
  const updates =
    query.models?.includes('thing') === false
      ? NO_UPDATES
      : await updatesFor(database, { ...head, isFiltered: filter.sql !== '' }, query)
  const page = await database.snapshot((executor) =>
    pageWith(executor, updates, { head, filter, query }),
  )
  return { ...page, headSeq: head.headSeq }
}

interface Asked {
  readonly head: Head
  readonly filter: Filter
  readonly query: HistoryQuery
}

/** The page that has these updates, and the Messages and Events between them. */
async function pageWith(
  executor: Executor,
  updates: Updates,
  { head, filter, query }: Asked,
): Promise<Page<FeedEntry>> {
  const { channelId, limit, models } = query
  const { channel } = head
  const entries = hasRows(models) ? await entriesFrom(executor, head, query) : undefined
  const end = filter.sql === '' ? undefined : await unscanned(executor, entries, updates)

  const inBlocks = updates.found.filter(({ seq }) => end === undefined || seq < end)
  const inRows = entries
    ? await sizesIn(executor, entries, { end, filter, limit: limit + 1 })
    : NO_UPDATES.found
  const found = mergeBySeq<Found, Found>(inBlocks, inRows, limit + 1)
  const { count } = fill(found, roomFor(limit))
  const page = found.slice(0, count)
  const wanted = page.flatMap(({ id, seq, update }) =>
    update === undefined ? { channel, id, seq } : [],
  )
  const content = { table: 'feed_entries' as const, columns: FEED_COLUMNS }
  const rows = await contentOf<StoredEntry>(executor, content, wanted)
  const items = page
    .flatMap(({ update }): readonly StoredEntry[] => (update === undefined ? [] : [update]))
    .concat(rows)
    .map((row) => entryFrom(channelId, row))
  return pageOf(mergeBySeq(items, [], count), found, end === undefined ? undefined : end - 1)
}

/** The models that have a row for each entry. */
const IN_ROWS = ['message', 'event'] as const

const hasRows = (models: HistoryQuery['models']): boolean =>
  models === undefined || IN_ROWS.some((model) => models.includes(model))

function filterOf(channel: number, query: HistoryQuery): Filter {
  const { models, entityId, sinceMs, thingPrefix } = query
  const leftOut = models && IN_ROWS.find((model) => !models.includes(model))
  const conditions: readonly (readonly [column: string, value: string | number | undefined])[] = [
    ['model <> ?', leftOut],
    ['entity_id = ?', entityId],
    ['accepted_at >= ?', sinceMs],
  ]
  const given = conditions.flatMap(([condition, value]) =>
    value === undefined ? [] : [{ condition, value }],
  )
  const prefix = thingPrefix === undefined ? NO_FILTER : ofThings(channel, thingPrefix)
  return {
    sql: given.map(({ condition }) => ` AND ${condition}`).join('') + prefix.sql,
    parameters: [...given.map(({ value }) => value), ...prefix.parameters],
  }
}

const NO_FILTER: Filter = { sql: '', parameters: [] }

/** Entries of Things whose id begins so, and of Events that are filed under one of them now. */
const ofThings = (channel: number, prefix: string): Filter => ({
  sql: ` AND ((model = 'thing' AND ${beginsWith('entity_id')}) OR (model = 'event' AND entity_id IN
    (SELECT id FROM events WHERE channel = ? AND ${beginsWith('thing_id')})))`,
  parameters: [...beginning(prefix), channel, ...beginning(prefix)],
})

interface Range {
  /** The seq right behind the last one of the part. */
  readonly end: number | undefined
  readonly filter: Filter
  readonly limit: number
}

type Found = Sized & {
  /** What it is, when a block has it. */
  readonly update?: FeedRow
}

/** The part of a page that blocks have. */
interface Updates {
  readonly found: readonly Found[]
  /** The updates that the page stepped over, found or not. */
  readonly scanned: number
  /** The seq of the first update that it does not step over any more. */
  readonly end?: number
}

const NO_UPDATES: Updates = { found: [], scanned: 0 }

interface Updating extends Head {
  readonly isFiltered: boolean
}

/** Steps over the updates of Things until the page is full. (paging/1, sized/1) */
async function updatesFor(
  database: Database,
  { channel, headSeq, isFiltered }: Updating,
  { afterSeq = 0, sinceMs, entityId, thingPrefix = '', limit }: HistoryQuery,
): Promise<Updates> {
  const found: Found[] = []
  let scanned = 0
  let bytes = 0
  let isBeyond = false
  const behind = { channel, after: afterSeq, sinceMs }
  for await (const update of inSlices(database, behind, isFiltered ? SCANNED_MAX : limit)) {
    const { seq } = update
    if (seq > headSeq) break // history/1
    if (isFiltered && scanned === SCANNED_MAX) return { found, scanned, end: seq }
    if (found.length > limit || isBeyond) break
    const isRecent = sinceMs === undefined || update.acceptedAt >= sinceMs
    if (!isRecent && scanned === 0) continue
    scanned += 1
    if (!isRecent || (entityId !== undefined && update.entityId !== entityId)) continue
    if (!update.entityId.startsWith(thingPrefix)) continue
    const size = Buffer.byteLength(update.payload)
    isBeyond = bytes > PAGE_BYTES_MAX // One beyond the page tells that more follow.
    bytes += size
    found.push({ id: seq, seq, bytes: size, update })
  }
  return { found, scanned }
}

/**
 * The updates of a channel behind a seq, some blocks in a job: fewer once they have more than
 * `most`. A block that was joined meanwhile may begin before the place. (history/1)
 */
async function* inSlices(
  database: Database,
  behind: Parameters<typeof updatesBehind>[1],
  most: number,
): AsyncGenerator<FeedRow> {
  for (let { after } = behind; ;) {
    const slice = await database.read(async (executor) => {
      const updates: FeedRow[] = []
      let blocks = 0
      for await (const some of updatesBehind(executor, { ...behind, after })) {
        updates.push(...some)
        blocks += 1
        if (blocks === SLICE_BLOCKS || updates.length > most) return { updates, isLast: false }
      }
      return { updates, isLast: true }
    })
    yield* slice.updates
    const last = slice.updates.at(-1)
    if (slice.isLast || last === undefined) return
    after = last.seq
  }
}

/** The Messages and Events of a channel behind a seq, up to its head. (history/1) */
interface Entries extends Head {
  readonly after: number
}

function sizesIn(
  executor: Executor,
  { channel, headSeq, after }: Entries,
  { end = headSeq + 1, filter, limit }: Range,
): Promise<Found[]> {
  return executor.all<Sized>(
    `SELECT ${sizeColumns('feed_entries')} FROM feed_entries
      WHERE channel = ? AND seq > ? AND seq < ?${filter.sql} ORDER BY seq LIMIT ?`,
    [channel, after, end, ...filter.parameters, limit],
  )
}

/** paging/1: the seq of the first entry that this page does not step over any more. */
async function unscanned(
  executor: Executor,
  entries: Entries | undefined,
  { end }: Updates,
): Promise<number | undefined> {
  if (entries === undefined) return end
  const row = await executor.first<{ seq: number }>(
    `SELECT seq FROM feed_entries WHERE channel = ? AND seq > ? AND seq <= ?
      ORDER BY seq LIMIT 1 OFFSET ?`,
    [entries.channel, entries.after, entries.headSeq, SCANNED_MAX],
  )
  return row === undefined ? end : Math.min(end ?? row.seq, row.seq)
}

/** Where to begin: behind the cursor, and not much before a time. */
async function entriesFrom(
  executor: Executor,
  head: Head,
  { afterSeq = 0, sinceMs }: HistoryQuery,
): Promise<Entries> {
  const entries = { ...head, after: afterSeq }
  if (sinceMs === undefined) return entries
  return { ...head, after: await lastBefore(executor, entries, sinceMs) }
}

/**
 * The last seq before a time, found by halving. Times of acceptance grow with seq but for the
 * clocks of several nodes and for Messages that a repeat completed: their time is that of the
 * claim, up to days earlier. So a place is before the time only when all of the next rows are. An
 * entry may be missed within the difference of the clocks and around a longer run of such Messages,
 * but no older one is given.
 */
async function lastBefore(
  executor: Executor,
  { channel, after }: Entries,
  sinceMs: number,
): Promise<number> {
  const newest = await executor.first<{ seq: number | null }>(
    'SELECT max(seq) AS seq FROM feed_entries WHERE channel = ?',
    [channel],
  )
  let low = after
  let high = newest?.seq ?? after
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = await executor.all<{ seq: number; acceptedAt: number }>(
      `SELECT seq, accepted_at AS acceptedAt FROM feed_entries
        WHERE channel = ? AND seq > ? ORDER BY seq LIMIT ?`,
      [channel, middle, PROBED_ROWS],
    )
    const last = next.at(-1)
    if (last === undefined || next.some(({ acceptedAt }) => acceptedAt >= sinceMs)) high = middle
    else low = last.seq
  }
  return low
}
