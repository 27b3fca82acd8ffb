// Removes the rows of a deleted channel, a few at a time, its own row last.
//
// Invariants:
//   deleted-channels/1. Nothing is removed before the limit, when no turn knows the channel any
//     more: a turn that loaded the channel before the deletion still writes rows for it, and nobody
//     would find the rows of a channel without a row of its own.

import { removeById } from '#src/store/statements/bulk'
import type { Executor } from '#src/store/jobs/executor'
import { rowsOf } from '#src/store/statements/spans'
import type { FeedTable } from '#src/store/statements/spans'

const FEED: readonly FeedTable[] = ['thing_updates', 'feed_entries']

/** Other tables with rows of a channel, and the column that orders them within it. */
const PARTS = [
  ['update_places', 'last_seq'],
  ['subscriptions', 'device'],
  ['channel_keys', 'id'],
  ['channel_mappings', 'channel'],
  ['bindings', 'grant_id'],
  ['things', 'id'],
  ['events', 'id'],
  ['rules', 'id'],
  ['scheduled_messages', 'op_id'],
] as const

/** The rows of the channel itself, which go together. */
const OWN_ROWS = 2

/**
 * Removes at most `maxRows` rows of the channel that was deleted first; 0 when none is left that
 * was deleted before the limit.
 */
export async function removeDeletedChannel(
  executor: Executor,
  deletedBefore: number,
  maxRows: number,
): Promise<number> {
  // deleted-channels/1
  const deleted = await executor.first<{ id: number }>(
    `SELECT id FROM channels WHERE is_deleted > 0 AND is_deleted < ?
      ORDER BY is_deleted, id LIMIT 1`,
    [deletedBefore],
  )
  if (deleted === undefined) return 0
  let removed = 0
  for (const table of FEED) {
    const left = maxRows - removed
    if (left <= 0) return removed
    const { sql, parameters, order } = rowsOf(executor, { table, channel: deleted.id, after: 0 })
    const rows = await executor.all<{ id: number }>(`SELECT id ${sql}${order} LIMIT ?`, [
      ...parameters,
      left,
    ])
    removed += await removeById(executor, table, rows)
  }
  for (const [table, column] of PARTS) {
    const left = maxRows - removed
    if (left <= 0) return removed
    removed += await removePart(executor, { table, column, channel: deleted.id, maxRows: left })
  }
  // The key of a watch has two columns behind the channel: the rules of one Thing go together.
  const left = maxRows - removed
  if (left <= 0) return removed
  removed += await removePart(executor, {
    table: 'watches',
    column: 'thing_id',
    channel: deleted.id,
    maxRows: left,
  })
  if (maxRows - removed < OWN_ROWS) return removed
  await executor.run('DELETE FROM channel_heads WHERE channel = ?', [deleted.id])
  await executor.run('DELETE FROM channels WHERE id = ?', [deleted.id])
  return removed + OWN_ROWS
}

interface PartToRemove {
  readonly table: (typeof PARTS)[number][0] | 'watches'
  readonly column: (typeof PARTS)[number][1] | 'thing_id'
  readonly channel: number
  readonly maxRows: number
}

async function removePart(
  executor: Executor,
  { table, column, channel, maxRows }: PartToRemove,
): Promise<number> {
  const first = await executor.all<{ lastKey: string | number }>(
    `SELECT ${column} AS lastKey FROM ${table} WHERE channel = ? ORDER BY ${column} LIMIT ?`,
    [channel, maxRows],
  )
  const last = first.at(-1)
  if (last === undefined) return 0
  await executor.run(`DELETE FROM ${table} WHERE channel = ? AND ${column} <= ?`, [
    channel,
    last.lastKey,
  ])
  return first.length
}
