// A grant that takes the place of earlier ones, and the end of a client's use of a channel.

import { BINDINGS_MAX } from '#domain/assistants'
import type { Bulk } from '#src/store/statements/bulk'
import type { BindingRow } from '#src/store/entities/authorization'
import { removeGrant } from './ended-grants.ts'
import type { Session } from '#src/store/jobs/session'

/** bindings/1 */
export const GOOD = `bindings b JOIN channels c
  ON c.id = b.channel AND c.password_hash = b.password_hash AND c.is_deleted = 0`

/**
 * Ends the grants that the client of this binding got in the same browser for the same channel, and
 * gives their other channels and their bind sessions to the grant of the binding. (bindings/4)
 */
export async function replaceEarlier(
  session: Session,
  bindings: Bulk<BindingRow>,
  { grantId, channel, client, browser, clientName }: BindingRow,
): Promise<void> {
  const { forUpdate } = session.dialect
  const earlier = await session.all<{ readonly grantId: string }>(
    `SELECT grant_id AS grantId FROM bindings
      WHERE channel = ? AND client = ? AND browser = ? AND grant_id <> ?${forUpdate}`,
    [channel, client, browser, grantId],
  )
  const carried = new Map<number, BindingRow>()
  for (const { grantId: ended } of earlier) {
    const good = await session.all<Pick<BindingRow, 'channel' | 'passwordHash' | 'boundAt'>>(
      `SELECT b.channel, b.password_hash AS passwordHash, b.bound_at AS boundAt
        FROM ${GOOD} WHERE b.grant_id = ? ORDER BY b.bound_at${forUpdate}`,
      [ended],
    )
    for (const row of good) {
      carried.set(row.channel, { ...row, grantId, client, browser, clientName })
    }
    await session.run('UPDATE bind_sessions SET grant_id = ? WHERE grant_id = ?', [grantId, ended])
    await removeGrant(session, ended)
  }
  carried.delete(channel)
  await bindings.write(session, [...carried.values()].slice(0, BINDINGS_MAX - 1)) // bindings/2
}

/** Gives false when no grant of the client had the channel. (bindings/5) */
export async function endUse(
  session: Session,
  channelId: string,
  client: string,
): Promise<boolean> {
  const { forUpdate } = session.dialect
  const bound = await session.all<{ readonly grantId: string; readonly channel: number }>(
    `SELECT b.grant_id AS grantId, b.channel FROM bindings b JOIN channels c ON c.id = b.channel
      WHERE c.channel_id = ? AND c.is_deleted = 0 AND b.client = ?${forUpdate}`,
    [channelId, client],
  )
  for (const { grantId, channel } of bound) {
    await session.run('DELETE FROM bindings WHERE grant_id = ? AND channel = ?', [grantId, channel])
    const rest = await session.first(`SELECT b.channel FROM ${GOOD} WHERE b.grant_id = ? LIMIT 1`, [
      grantId,
    ])
    if (rest === undefined) await removeGrant(session, grantId)
  }
  return bound.length > 0
}
