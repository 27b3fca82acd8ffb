// What is left of a deleted channel, a few rows at a time, its own row last.

import type { Session } from './session.ts'

/** Tables with rows of a channel, and the column that orders them within it. */
const PARTS = [
  ['subscriptions', 'device'],
  ['thing_updates', 'seq'],
  ['feed_entries', 'seq'],
  ['things', 'id'],
  ['events', 'id'],
] as const

/** Removes at most `maxRows` rows of one deleted channel; 0 when no deleted channel is left. */
export async function removeDeletedChannel(session: Session, maxRows: number): Promise<number> {
  const deleted = await session.first<{ id: number }>(
    'SELECT id FROM channels WHERE is_deleted = 1 ORDER BY id LIMIT 1',
  )
  if (deleted === undefined) return 0
  let removed = 0
  for (const [table, column] of PARTS) {
    const left = maxRows - removed
    if (left <= 0) return removed
    removed += await removePart(session, { table, column, channel: deleted.id, maxRows: left })
  }
  if (removed >= maxRows) return removed
  await session.run('DELETE FROM channel_heads WHERE channel = ?', [deleted.id])
  await session.run('DELETE FROM channels WHERE id = ?', [deleted.id])
  return removed + 1
}

interface Part {
  readonly table: (typeof PARTS)[number][0]
  readonly column: (typeof PARTS)[number][1]
  readonly channel: number
  readonly maxRows: number
}

async function removePart(
  session: Session,
  { table, column, channel, maxRows }: Part,
): Promise<number> {
  const first = await session.all<{ lastKey: string | number }>(
    `SELECT ${column} AS lastKey FROM ${table} WHERE channel = ? ORDER BY ${column} LIMIT ?`,
    [channel, maxRows],
  )
  const last = first.at(-1)
  if (last === undefined) return 0
  await session.run(`DELETE FROM ${table} WHERE channel = ? AND ${column} <= ?`, [
    channel,
    last.lastKey,
  ])
  return first.length
}
