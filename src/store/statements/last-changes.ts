// The Things or Events of one channel in the order of their last change.
//
// Each update would remove, add and purge an entry of an index by (channel, seq): a fifth of what a
// submission costs InnoDB. So MySQL indexes (channel, seq_block), where 128 seqs share a number: a
// Thing that is updated again soon leaves the index as it is. SQLite pays for pages, and a
// channel's pages change with its Things anyway: there each seq stands for itself.
//
// Invariants:
//   last-changes/1. At most as many rows share a number as seqs do, as no two rows of a channel
//     have the same seq. Found number by number, the first `limit` rows in seq order are therefore
//     among the first `limit` + size - 1, whatever the order of those that share one is.

import type { Dialect } from '#src/store/dialect'
import { allForEach } from './gathered.ts'
import type { Filter } from './paging.ts'
import type { Executor } from '#src/store/jobs/executor'
import type { Sequenced } from './sized.ts'

export type EntityTable = 'things' | 'events'

/** The rows of one channel whose seqs lie between two others, without those two. */
export interface ChangesBetween {
  readonly table: EntityTable
  readonly channel: number
  readonly after?: number
  readonly before?: number
  /** Further conditions. */
  readonly filter?: Filter
}

interface Selection {
  /** The columns to read; `seq` must be one of them. */
  readonly columns: string
  readonly order: 'oldest first' | 'newest first'
}

/** The first `limit` rows in the order that is asked for. */
export async function entitiesIn<Row extends Sequenced>(
  executor: Executor,
  changes: ChangesBetween,
  { limit, ...selection }: Selection & { readonly limit: number },
): Promise<readonly Row[]> {
  const [rows = []] = await entitiesInEach<Row>(executor, [{ ...changes, limit }], selection)
  return rows
}

/** The same for each of several channels in one table, with one filter, each with its own limit. */
export async function entitiesInEach<Row extends Sequenced>(
  executor: Executor,
  changes: readonly (ChangesBetween & { readonly limit: number })[],
  { columns, order }: Selection,
): Promise<readonly (readonly Row[])[]> {
  const { column, size } = indexOf(executor.dialect)
  const isForward = order === 'oldest first'
  const filters = changes.map((one) => selectionOf(executor.dialect, one))
  const rows = await allForEach<Row>(
    executor,
    `SELECT ${columns} ${filters[0]?.sql} ORDER BY ${column}${isForward ? '' : ' DESC'} LIMIT ?`,
    // last-changes/1
    filters.map(({ parameters }, at) => [...parameters, (changes[at]?.limit ?? 0) + size - 1]),
  )
  return rows.map((found, at) =>
    found
      .toSorted((one, other) => (isForward ? one.seq - other.seq : other.seq - one.seq))
      .slice(0, changes[at]?.limit),
  )
}

/**
 * The seq behind which at most `most` rows lie; undefined when no more rows exist. It never divides
 * those that share a number of the index.
 */
export async function seqBehind(
  executor: Executor,
  changes: ChangesBetween,
  most: number,
): Promise<number | undefined> {
  const { column, size } = indexOf(executor.dialect)
  const { sql, parameters } = selectionOf(executor.dialect, changes)
  const row = await executor.first<{ shared: number }>(
    `SELECT ${column} AS shared ${sql} ORDER BY ${column} DESC LIMIT 1 OFFSET ${most}`,
    parameters,
  )
  return row === undefined ? undefined : (row.shared + 1) * size - 1
}

/**
 * For each of several channels in one table, the seq up to which at most `most` rows lie; undefined
 * when no more rows exist. It never divides those that share a number of the index.
 */
export async function seqsUpTo(
  executor: Executor,
  changes: readonly ChangesBetween[],
  most: number,
): Promise<readonly (number | undefined)[]> {
  const { column, size } = indexOf(executor.dialect)
  const filters = changes.map((one) => selectionOf(executor.dialect, one))
  const rows = await allForEach<{ shared: number }>(
    executor,
    `SELECT ${column} AS shared ${filters[0]?.sql} ORDER BY ${column} LIMIT 1 OFFSET ${most}`,
    filters.map(({ parameters }) => parameters),
  )
  return rows.map(([row]) => (row === undefined ? undefined : row.shared * size - 1))
}

function selectionOf(dialect: Dialect, changes: ChangesBetween): Filter {
  const { table, channel, after = 0, before = Number.MAX_SAFE_INTEGER, filter } = changes
  const { column, size } = indexOf(dialect)
  return {
    sql: `FROM ${table} WHERE channel = ? AND ${column} >= ? AND ${column} <= ?
      AND seq > ? AND seq < ?${filter?.sql ?? ''}`,
    parameters: [
      channel,
      Math.floor(after / size),
      Math.floor(before / size),
      after,
      before,
      ...(filter?.parameters ?? []),
    ],
  }
}

/** The column of the index, and how many seqs share a number of it. */
const indexOf = ({
  types: { seqsShared },
}: Dialect): { readonly column: string; readonly size: number } =>
  seqsShared === undefined ? { column: 'seq', size: 1 } : { column: 'seq_block', size: seqsShared }
