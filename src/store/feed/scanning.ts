// Gives the Things of a channel with their documents, for queries: in the order of their ids, or of
// their last change. (src/queries)
//
// A document is decoded where the query is evaluated, not here: SQLite takes 2.8 µs a Thing for
// reading it, and as long when it evaluates a condition with json_extract instead.
//
// Invariants:
//   scanning/1. Documents up to SHORT_BYTES come with their rows. Longer ones are read behind them,
//     as far as a page has room for them: no scan holds more than limit times SHORT_BYTES and a
//     page.

import type { ScanQuery, Scanned } from '#domain/things/scan'
import type { StoredThing } from '#domain/things/document'
import type { Value } from '#src/store/dialect'
import type { Executor } from '#src/store/jobs/executor'
import { entitiesIn } from '#src/store/statements/last-changes'
import { contentOf, fill, roomFor } from '#src/store/statements/sized'
import type { Sized } from '#src/store/statements/sized'

/** Bytes of a document that comes with its row. */
const SHORT_BYTES = 4_096

const BYTES = 'octet_length(document)'
const COLUMNS = `id, state, seq, ${BYTES} AS bytes,
  CASE WHEN ${BYTES} <= ${SHORT_BYTES} THEN document END AS document`

type Row = Omit<StoredThing, 'document'> & Sized & { readonly document: string | null }

/** Every id is smaller, whatever it begins with. */
const BEHIND_EVERY_ID = '~'

export async function scan(
  executor: Executor,
  channel: number,
  query: ScanQuery,
): Promise<Scanned> {
  const found = await inOrder(executor, channel, query)
  const long = found.filter(({ document }) => document === null)
  const { count } = fill(long, roomFor(long.length))
  const cut = long[count] // scanning/1
  const content = { table: 'things', columns: 'id, state, seq, document' } as const
  const wanted = long.slice(0, count).map(({ id, seq }) => ({ channel, id, seq }))
  const read = await contentOf<StoredThing>(executor, content, wanted)
  const documents = new Map(read.map(({ id, document }) => [id, document]))
  const rows = cut === undefined ? found : found.slice(0, found.indexOf(cut))
  const things = rows.map(({ document, ...row }) => ({
    ...row,
    document: document ?? documents.get(row.id) ?? '',
  }))
  return { things, isLast: cut === undefined && found.length < query.limit }
}

async function inOrder(
  executor: Executor,
  channel: number,
  query: ScanQuery,
): Promise<readonly Row[]> {
  const { by, isDescending, after, limit } = query
  if (by === 'thing_id') return byId(executor, channel, query)
  const place = typeof after === 'number' ? after : undefined
  const changes = {
    table: 'things',
    channel,
    ...(place !== undefined && (isDescending ? { before: place } : { after: place })),
  } as const
  const order = isDescending ? 'newest first' : 'oldest first'
  return entitiesIn<Row>(executor, changes, { columns: COLUMNS, order, limit })
}

function byId(
  executor: Executor,
  channel: number,
  { isDescending, after, until, prefix = '', limit }: ScanQuery,
): Promise<Row[]> {
  const bounds: (readonly [condition: string, value: Value])[] = [['channel = ?', channel]]
  if (typeof after === 'string') bounds.push([isDescending ? 'id < ?' : 'id > ?', after])
  if (until !== undefined) bounds.push(['id <= ?', until])
  if (prefix !== '') {
    bounds.push(['id >= ?', prefix], ['id < ?', prefix + BEHIND_EVERY_ID])
  }
  const conditions = bounds.map(([condition]) => condition).join(' AND ')
  return executor.all<Row>(
    `SELECT ${COLUMNS} FROM things WHERE ${conditions} ORDER BY id${isDescending ? ' DESC' : ''}
      LIMIT ?`,
    [...bounds.map(([, value]) => value), limit],
  )
}
