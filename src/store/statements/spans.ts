// Finds the rows of one channel in a feed table, in seq order.
//
// SQLite pays for each page that a turn changes. In an index by (channel, seq) the end of each
// channel is a page of its own, a fifth of the cost of a turn. So SQLite indexes the updates of
// Things by (span, channel, seq): a span is a stretch of the table in the order of commits, and new
// rows lie in the few index pages of the newest span. A reader looks into one span after the other;
// they hold a day's updates by default. InnoDB pays for rows: it has no spans.

import type { Executor } from '#src/store/jobs/executor'
import type { Value } from '#src/store/dialect'

export type FeedTable = 'feed_entries' | 'thing_updates'

/** A channel's rows behind a seq; in a table with spans, a source may begin at a later span. */
export interface Source {
  readonly table: FeedTable
  readonly channel: number
  readonly after: number
  readonly firstSpan?: number
}

interface Rows {
  /** The statement from FROM on; more conditions may follow. */
  readonly sql: string
  readonly parameters: readonly Value[]
  /** The ORDER BY clause: spans come in their order, and so do the rows of each. */
  readonly order: string
}

/** The statement's part for a source: it finds rows in seq order without looking at others. */
export function rowsOf({ dialect }: Executor, source: Source): Rows {
  const { table, channel, after, firstSpan = 0 } = source
  const condition = 'channel = ? AND seq > ?'
  const key = spanOf({ dialect }, table)
  if (key === undefined) {
    const sql = `FROM ${table} WHERE ${condition}`
    return { sql, parameters: [channel, after], order: ' ORDER BY seq' }
  }
  const sql = `FROM (
      WITH RECURSIVE spans (span) AS (
        SELECT max(?, (SELECT min(id) FROM ${table}) >> ${key.bits})
        UNION ALL SELECT span + 1 FROM spans
          WHERE span < (SELECT max(id) FROM ${table}) >> ${key.bits}
      ) SELECT span FROM spans
    ) CROSS JOIN ${table} ON id >> ${key.bits} = span WHERE ${condition}`
  return { sql, parameters: [firstSpan, channel, after], order: '' }
}

/** The span of a row; undefined when the table has no spans. */
export function spanOf(
  { dialect }: Pick<Executor, 'dialect'>,
  table: FeedTable,
): { readonly bits: number } | undefined {
  const { spanBits } = dialect
  return table === 'thing_updates' && spanBits !== undefined ? { bits: spanBits } : undefined
}

/** The first span that may hold rows accepted at or after a time. (Found by halving.) */
export async function spanSince(
  executor: Executor,
  { table, bits, sinceMs }: { readonly table: FeedTable; readonly bits: number; sinceMs: number },
): Promise<number> {
  const ends = await executor.first<{ low: number | null; high: number | null }>(
    `SELECT (SELECT min(id) FROM ${table}) >> ${bits} AS low,
      (SELECT max(id) FROM ${table}) >> ${bits} AS high`,
  )
  const oldest = ends?.low ?? 0
  let low = oldest
  let high = ends?.high ?? 0
  // Up to `low` spans begin too early; from `high` on they may begin late enough.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const first = await executor.first<{ acceptedAt: number }>(
      `SELECT accepted_at AS acceptedAt FROM ${table} WHERE id >= ? ORDER BY id LIMIT 1`,
      [middle * 2 ** bits],
    )
    if (first !== undefined && first.acceptedAt < sinceMs) low = middle
    else high = middle - 1
  }
  // A clock that goes back does so by less than a span takes.
  return Math.max(oldest, low - 1)
}
