// A channel's feed in seq order: two tables and the blocks of updates read as one, bounded steps at
// a time. (paging/1)

import type { FeedEntry } from '#domain/feed'
import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { HistoryQuery, Page } from '#domain/store-ports'
import type { FeedRow } from '#src/store/entities/feed'
import type { Executor } from '#src/store/jobs/executor'
import { rowsOf, spanOf, spanSince } from '#src/store/statements/spans'
import type { FeedTable, Source } from '#src/store/statements/spans'
import { FEED_COLUMNS, entryFrom, mergeBySeq } from './deliverables.ts'
import { updatesBehind } from './update-blocks.ts'
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

export async function history(
  executor: Executor,
  channel: number,
  query: HistoryQuery,
): Promise<Page<FeedEntry>> {
  const { channelId, limit } = query
  const filter = filterOf(channel, query)
  const sources: Source[] = []
  for (const table of tablesOf(query)) {
    sources.push(await sourceOf(executor, { table, channel, after: query.afterSeq ?? 0 }, query))
  }
  const blocks = tablesOf(query).includes('thing_updates')
    ? await inBlocks(executor, { channel, isFiltered: filter.sql !== '' }, query)
    : NO_BLOCKS
  const end = filter.sql === '' ? undefined : await unscanned(executor, sources, blocks)

  let found: readonly Found[] = blocks.found.filter(({ seq }) => end === undefined || seq < end)
  for (const source of sources) {
    const more = await sizesIn(executor, source, { end, filter, limit: limit + 1 })
    found = mergeBySeq(found, more, limit + 1)
  }
  const { count } = fill(found, roomFor(limit))
  const items = found
    .slice(0, count)
    .flatMap(({ update }) => (update === undefined ? [] : [entryFrom(channelId, update)]))
  for (const { table } of sources) {
    const wanted = found
      .slice(0, count)
      .filter((size) => size.table === table)
      .map(({ id, seq }) => ({ channel, id, seq }))
    const rows = await contentOf<StoredEntry>(executor, { table, columns: FEED_COLUMNS }, wanted)
    items.push(...rows.map((row) => entryFrom(channelId, row)))
  }
  return pageOf(mergeBySeq(items, [], count), found, end === undefined ? undefined : end - 1)
}

function tablesOf({ model }: HistoryQuery): readonly FeedTable[] {
  if (model === undefined) return ['feed_entries', 'thing_updates']
  return [model === 'thing' ? 'thing_updates' : 'feed_entries']
}

function filterOf(channel: number, query: HistoryQuery): Filter {
  const { model, entityId, sinceMs, thingPrefix } = query
  const conditions: readonly (readonly [column: string, value: string | number | undefined])[] = [
    ['model = ?', model],
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
  readonly table: FeedTable | 'update_blocks'
  /** What it is, when a block has it. */
  readonly update?: FeedRow
}

/** The part of a page that blocks have. */
interface InBlocks {
  readonly found: readonly Found[]
  /** The updates that the page stepped over, found or not. */
  readonly scanned: number
  /** The seq of the first update that it does not step over any more. */
  readonly end?: number
}

const NO_BLOCKS: InBlocks = { found: [], scanned: 0 }

/** Steps over the updates in blocks until the page is full. (paging/1, sized/1) */
async function inBlocks(
  executor: Executor,
  { channel, isFiltered }: { readonly channel: number; readonly isFiltered: boolean },
  { afterSeq = 0, sinceMs, entityId, thingPrefix = '', limit }: HistoryQuery,
): Promise<InBlocks> {
  const found: Found[] = []
  let scanned = 0
  let bytes = 0
  let isBeyond = false
  for await (const updates of updatesBehind(executor, { channel, after: afterSeq, sinceMs })) {
    for (const update of updates) {
      const { seq } = update
      if (isFiltered && scanned === SCANNED_MAX) return { found, scanned, end: seq }
      if (found.length > limit || isBeyond) return { found, scanned }
      const isRecent = sinceMs === undefined || update.acceptedAt >= sinceMs
      if (!isRecent && scanned === 0) continue
      scanned += 1
      if (!isRecent || (entityId !== undefined && update.entityId !== entityId)) continue
      if (!update.entityId.startsWith(thingPrefix)) continue
      const size = Buffer.byteLength(update.payload)
      isBeyond = bytes > PAGE_BYTES_MAX // One beyond the page tells that more follow.
      bytes += size
      found.push({ id: seq, seq, bytes: size, table: 'update_blocks', update })
    }
  }
  return { found, scanned }
}

async function sizesIn(
  executor: Executor,
  source: Source,
  { end = Number.MAX_SAFE_INTEGER, filter, limit }: Range,
): Promise<Found[]> {
  const { table } = source
  const { sql, parameters, order } = rowsOf(executor, source)
  const sizes = await executor.all<Sized>(
    `SELECT ${sizeColumns(table)} ${sql} AND seq < ?${filter.sql}${order} LIMIT ?`,
    [...parameters, end, ...filter.parameters, limit],
  )
  return sizes.map((size) => ({ ...size, table }))
}

/**
 * paging/1: the seq of the first row, in either table, that this page does not step over any more.
 */
async function unscanned(
  executor: Executor,
  sources: readonly Source[],
  blocks: InBlocks,
): Promise<number | undefined> {
  let { end } = blocks
  for (const source of sources) {
    const { sql, parameters, order } = rowsOf(executor, source)
    const scanned = source.table === 'thing_updates' ? blocks.scanned : 0
    const row = await executor.first<{ seq: number }>(
      `SELECT seq ${sql}${order} LIMIT 1 OFFSET ?`,
      [...parameters, SCANNED_MAX - scanned],
    )
    if (row !== undefined) end = Math.min(end ?? row.seq, row.seq)
  }
  return end
}

/** The source to read: behind the cursor, and not much before a time. */
async function sourceOf(
  executor: Executor,
  source: Source,
  { sinceMs }: HistoryQuery,
): Promise<Source> {
  if (sinceMs === undefined) return source
  const { table } = source
  const span = spanOf(executor, table)
  return span === undefined
    ? { ...source, after: await lastBefore(executor, source, sinceMs) }
    : { ...source, firstSpan: await spanSince(executor, { table, bits: span.bits, sinceMs }) }
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
  { table, channel, after }: Source,
  sinceMs: number,
): Promise<number> {
  const newest = await executor.first<{ seq: number | null }>(
    `SELECT max(seq) AS seq FROM ${table} WHERE channel = ?`,
    [channel],
  )
  let low = after
  let high = newest?.seq ?? after
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = await executor.all<{ seq: number; acceptedAt: number }>(
      `SELECT seq, accepted_at AS acceptedAt FROM ${table}
        WHERE channel = ? AND seq > ? ORDER BY seq LIMIT ?`,
      [channel, middle, PROBED_ROWS],
    )
    const last = next.at(-1)
    if (last === undefined || next.some(({ acceptedAt }) => acceptedAt >= sinceMs)) high = middle
    else low = last.seq
  }
  return low
}
