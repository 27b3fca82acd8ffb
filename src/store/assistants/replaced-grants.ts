// A grant that takes the place of earlier ones, and the end of a client's use of a channel.

import { BINDINGS_MAX } from '#domain/assistants'
import type { Bulk } from '#src/store/statements/bulk'
import type { BindingRow } from '#src/store/entities/authorization'
import { removeGrant } from './ended-grants.ts'
import type { Executor } from '#src/store/jobs/executor'

/** bindings/1 */
export const GOOD = `bindings b JOIN channels c
  ON c.id = b.channel AND c.password_hash = b.password_hash AND c.is_deleted = 0`

/**
 * Ends the grants that the client of this binding got in the same browser for the same channel, and
 * gives their other channels and their bind sessions to the grant of the binding. (bindings/4)
 */
export async function replaceEarlier(
  executor: Executor,
  bindings: Bulk<BindingRow>,
  { grantId, channel, client, browser, clientName }: BindingRow,
): Promise<void> {
  const { forUpdate } = executor.dialect
  const earlier = await executor.all<{ readonly grantId: string }>(
    `SELECT grant_id AS grantId FROM bindings
      WHERE channel = ? AND client = ? AND browser = ? AND grant_id <> ?${forUpdate}`,
    [channel, client, browser, grantId],
  )
  const carried = new Map<number, BindingRow>()
  for (const { grantId: ended } of earlier) {
    const good = await executor.all<Pick<BindingRow, 'channel' | 'passwordHash' | 'boundAt'>>(
      `SELECT b.channel, b.password_hash AS passwordHash, b.bound_at AS boundAt
        FROM ${GOOD} WHERE b.grant_id = ? ORDER BY b.bound_at${forUpdate}`,
      [ended],
    )
    for (const row of good) {
      carried.set(row.channel, { ...row, grantId, client, browser, clientName })
    }
    await executor.run('UPDATE bind_sessions SET grant_id = ? WHERE grant_id = ?', [grantId, ended])
    await removeGrant(executor, ended)
  }
  carried.delete(channel)
  await bindings.write(executor, [...carried.values()].slice(0, BINDINGS_MAX - 1)) // bindings/2
}

/** Returns false when no grant of the client had the channel. (bindings/5) */
export async function endUse(
  executor: Executor,
  channelId: string,
  client: string,
): Promise<boolean> {
  const { forUpdate } = executor.dialect
  const bound = await executor.all<{ readonly grantId: string; readonly channel: number }>(
    `SELECT b.grant_id AS grantId, b.channel FROM bindings b JOIN channels c ON c.id = b.channel
      WHERE c.channel_id = ? AND c.is_deleted = 0 AND b.client = ?${forUpdate}`,
    [channelId, client],
  )
  for (const { grantId, channel } of bound) {
    await executor.run('DELETE FROM bindings WHERE grant_id = ? AND channel = ?', [
      grantId,
      channel,
    ])
    const rest = await executor.first(
      `SELECT b.channel FROM ${GOOD} WHERE b.grant_id = ? LIMIT 1`,
      [grantId],
    )
    if (rest === undefined) await removeGrant(executor, grantId)
  }
  return bound.length > 0
}
