// The Things or Events of one channel in the order of their last change.
//
// Each update would remove, add and purge an entry of an index by (channel, seq): a fifth of what a
// submission costs InnoDB. So MySQL indexes (channel, seq_block), in blocks of 128 seqs: a Thing
// that is updated again soon leaves the index as it is. SQLite pays for pages, and a channel's
// pages change with its Things anyway: there a block holds one seq.
//
// Invariants:
//   blocks/1. A block has at most as many rows as seqs, as no two rows of a channel have the same.
//     Found block by block, the first `limit` rows in seq order are therefore among the first
//     `limit` + size - 1, whatever their order within a block is.

import type { Dialect } from '#src/store/dialect'
import { allForEach } from './gathered.ts'
import type { Filter } from './paging.ts'
import type { Executor } from '#src/store/jobs/executor'
import type { Sequenced } from './sized.ts'

export type EntityTable = 'things' | 'events'

/** The rows of one channel whose seqs lie between two others, without those two. */
export interface Slice {
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
  slice: Slice,
  { limit, ...selection }: Selection & { readonly limit: number },
): Promise<readonly Row[]> {
  const [rows = []] = await entitiesInEach<Row>(executor, [{ ...slice, limit }], selection)
  return rows
}

/** The same for each of several slices of one table, with one filter, each with its own limit. */
export async function entitiesInEach<Row extends Sequenced>(
  executor: Executor,
  slices: readonly (Slice & { readonly limit: number })[],
  { columns, order }: Selection,
): Promise<readonly (readonly Row[])[]> {
  const { column, size } = blocksOf(executor.dialect)
  const isForward = order === 'oldest first'
  const filters = slices.map((slice) => rowsOf(executor.dialect, slice))
  const rows = await allForEach<Row>(
    executor,
    `SELECT ${columns} ${filters[0]?.sql} ORDER BY ${column}${isForward ? '' : ' DESC'} LIMIT ?`,
    // blocks/1
    filters.map(({ parameters }, at) => [...parameters, (slices[at]?.limit ?? 0) + size - 1]),
  )
  return rows.map((found, at) =>
    found
      .toSorted((one, other) => (isForward ? one.seq - other.seq : other.seq - one.seq))
      .slice(0, slices[at]?.limit),
  )
}

/**
 * The seq behind which at most `most` rows lie; undefined when no more rows exist. It never divides
 * a block.
 */
export async function seqBehind(
  executor: Executor,
  slice: Slice,
  most: number,
): Promise<number | undefined> {
  const { column, size } = blocksOf(executor.dialect)
  const { sql, parameters } = rowsOf(executor.dialect, slice)
  const row = await executor.first<{ block: number }>(
    `SELECT ${column} AS block ${sql} ORDER BY ${column} DESC LIMIT 1 OFFSET ${most}`,
    parameters,
  )
  return row === undefined ? undefined : (row.block + 1) * size - 1
}

function rowsOf(dialect: Dialect, slice: Slice): Filter {
  const { table, channel, after = 0, before = Number.MAX_SAFE_INTEGER, filter } = slice
  const { column, size } = blocksOf(dialect)
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

const blocksOf = ({ seqBlock }: Dialect): { readonly column: string; readonly size: number } =>
  seqBlock === undefined ? { column: 'seq', size: 1 } : { column: 'seq_block', size: seqBlock }
