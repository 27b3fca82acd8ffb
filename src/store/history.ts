// A channel's feed in seq order: two tables read as one. R1 in paging.ts holds here too.

import type { FeedEntry } from '#domain/feed'
import type { HistoryQuery, Page } from '#domain/store-ports'
import type { Session } from './session.ts'
import { FEED_COLUMNS, entryFrom, mergeBySeq } from './deliverables.ts'
import type { StoredEntry } from './deliverables.ts'
import { SCANNED_MAX, pageOf } from './paging.ts'
import type { Filter } from './paging.ts'

type FeedTable = 'feed_entries' | 'thing_updates'

/** A part of one channel's history: behind `after`, before `end`. */
interface Range {
  readonly channel: number
  readonly after: number
  readonly end: number
}

export async function history(
  session: Session,
  channel: number,
  query: HistoryQuery,
): Promise<Page<FeedEntry>> {
  const { channelId, limit } = query
  const tables = tablesOf(query)
  const filter = filterOf(query)
  const after = await startOf(session, channel, query)
  const end = filter.sql === '' ? undefined : await unscanned(session, tables, { channel, after })
  const range = { channel, after, end: end ?? Number.MAX_SAFE_INTEGER }

  let rows: StoredEntry[] = []
  for (const table of tables) {
    const found = await entriesIn(session, table, { ...range, filter, limit: limit + 1 })
    rows = mergeBySeq(rows, found, limit + 1)
  }
  const page = pageOf(rows, limit, end === undefined ? undefined : end - 1)
  return { ...page, items: page.items.map((row) => entryFrom(channelId, row)) }
}

function tablesOf({ model }: HistoryQuery): readonly FeedTable[] {
  if (model === undefined) return ['feed_entries', 'thing_updates']
  return [model === 'thing' ? 'thing_updates' : 'feed_entries']
}

function filterOf({ model, entityId, sinceMs }: HistoryQuery): Filter {
  const conditions: readonly (readonly [column: string, value: string | number | undefined])[] = [
    ['model = ?', model],
    ['entity_id = ?', entityId],
    ['accepted_at >= ?', sinceMs],
  ]
  const given = conditions.flatMap(([condition, value]) =>
    value === undefined ? [] : [{ condition, value }],
  )
  return {
    sql: given.map(({ condition }) => ` AND ${condition}`).join(''),
    parameters: given.map(({ value }) => value),
  }
}

function entriesIn(
  session: Session,
  table: FeedTable,
  { channel, after, end, filter, limit }: Range & { readonly filter: Filter; limit: number },
): Promise<StoredEntry[]> {
  return session.all(
    `SELECT ${FEED_COLUMNS} FROM ${table}
      WHERE channel = ? AND seq > ? AND seq < ?${filter.sql} ORDER BY seq LIMIT ?`,
    [channel, after, end, ...filter.parameters, limit],
  )
}

/** R1: the seq of the first row, in either table, that this page does not step over any more. */
async function unscanned(
  session: Session,
  tables: readonly FeedTable[],
  { channel, after }: Pick<Range, 'channel' | 'after'>,
): Promise<number | undefined> {
  let end: number | undefined
  for (const table of tables) {
    const row = await session.first<{ seq: number }>(
      `SELECT seq FROM ${table} WHERE channel = ? AND seq > ? ORDER BY seq
        LIMIT 1 OFFSET ${SCANNED_MAX}`,
      [channel, after],
    )
    if (row !== undefined) end = Math.min(end ?? row.seq, row.seq)
  }
  return end
}

/** Behind which seq to read: the cursor, or the last entry before a time. */
async function startOf(session: Session, channel: number, query: HistoryQuery): Promise<number> {
  const { afterSeq = 0, sinceMs } = query
  if (sinceMs === undefined) return afterSeq
  const starts: number[] = []
  for (const table of tablesOf(query)) {
    starts.push(await lastBefore(session, table, { channel, after: afterSeq, sinceMs }))
  }
  return Math.min(...starts)
}

/**
 * The last seq before a time, found by halving. Times of acceptance grow with seq but for the
 * clocks of several nodes; within their difference an entry may be missed, and none that is older
 * is given.
 */
async function lastBefore(
  session: Session,
  table: FeedTable,
  { channel, after, sinceMs }: { readonly channel: number; after: number; sinceMs: number },
): Promise<number> {
  const newest = await session.first<{ seq: number | null }>(
    `SELECT max(seq) AS seq FROM ${table} WHERE channel = ?`,
    [channel],
  )
  let low = after
  let high = newest?.seq ?? after
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const probe = await session.first<{ seq: number; acceptedAt: number }>(
      `SELECT seq, accepted_at AS acceptedAt FROM ${table}
        WHERE channel = ? AND seq > ? ORDER BY seq LIMIT 1`,
      [channel, middle],
    )
    if (probe === undefined || probe.acceptedAt >= sinceMs) high = middle
    else low = probe.seq
  }
  return low
}
