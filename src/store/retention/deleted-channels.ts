// Removes the rows of a deleted channel, a few at a time, its own row last.
//
// Invariants:
//   deleted-channels/1. Nothing is removed before the limit, when no turn knows the channel any
//     more: a turn that loaded the channel before the deletion still writes rows for it, and nobody
//     would find the rows of a channel without a row of its own.
//   deleted-channels/2. A step removes at most PART_ROWS rows of one table: the document of an
//     entity may have 146 KB, and SQLite passes over each of its pages. (W7)

import { removeById } from '#src/store/statements/bulk'
import type { Executor } from '#src/store/jobs/executor'
import { BEFORE_ALL, placesBehind } from '#src/store/feed/update-places'
import type { UpdatePlaceRow } from '#src/store/entities/feed'

/** Other tables with rows of a channel, and the column that orders them within it. */
const PARTS = [
  ['feed_entries', 'seq'],
  ['subscriptions', 'device'],
  ['channel_keys', 'id'],
  ['channel_mappings', 'channel'],
  ['channel_presentations', 'channel'],
  ['channel_hooks', 'channel'],
  ['hook_episodes', 'source'],
  ['bindings', 'grant_id'],
  ['things', 'id'],
  ['events', 'id'],
  ['rules', 'id'],
  ['scheduled_messages', 'op_id'],
] as const

/** Those whose rows nothing but their own number orders within a channel. */
const NUMBERED = ['tier_chunks', 'tier_cuts'] as const

/** Rows of a table in one step: some 10 ms where all of them are as long as can be. */
const PART_ROWS = 100

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
  let removed = await removePlaces(executor, deleted.id, maxRows)
  for (const [table, column] of PARTS) {
    const most = Math.min(PART_ROWS, maxRows - removed)
    const part = { table, column, channel: deleted.id, maxRows: most }
    const rows = most > 0 ? await removePart(executor, part) : 0
    removed += rows
    if (rows === most) return removed // deleted-channels/2
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
  for (const table of NUMBERED) {
    removed += await removeNumbered(executor, table, {
      channel: deleted.id,
      maxRows: maxRows - removed,
    })
  }
  if (maxRows - removed < OWN_ROWS) return removed
  await executor.run('DELETE FROM channel_heads WHERE channel = ?', [deleted.id])
  await executor.run('DELETE FROM channels WHERE id = ?', [deleted.id])
  return removed + OWN_ROWS
}

/** Blocks stay until retention removes them with what other channels have in them. */
async function removePlaces(executor: Executor, channel: number, maxRows: number): Promise<number> {
  const { from, parameters, order } = placesBehind(executor, { channel, after: BEFORE_ALL })
  const places = await executor.all<Pick<UpdatePlaceRow, 'span' | 'lastSeq'>>(
    `SELECT p.span, p.last_seq AS lastSeq ${from}${order} LIMIT ?`,
    [...parameters, maxRows],
  )
  const lastOf = new Map(places.map(({ span, lastSeq }) => [span, lastSeq]))
  for (const [span, lastSeq] of lastOf) {
    await executor.run(
      'DELETE FROM update_places WHERE span = ? AND channel = ? AND last_seq <= ?',
      [span, channel, lastSeq],
    )
  }
  return places.length
}

async function removeNumbered(
  executor: Executor,
  table: (typeof NUMBERED)[number],
  { channel, maxRows }: Pick<PartToRemove, 'channel' | 'maxRows'>,
): Promise<number> {
  if (maxRows <= 0) return 0
  const rows = await executor.all<{ id: number }>(
    `SELECT id FROM ${table} WHERE channel = ? LIMIT ?`,
    [channel, maxRows],
  )
  return removeById(executor, table, rows)
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
