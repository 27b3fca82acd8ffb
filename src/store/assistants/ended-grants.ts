// Removes ended records of the authorization server, a few rows at a time.

import type { Executor } from '#src/store/jobs/executor'

interface Ended {
  readonly model: string
  readonly idHash: string
  readonly grantId: string
}

const OF_GRANTS = ['authorization_records', 'bindings', 'bind_sessions']

/** Removes all records and bindings of one grant. */
export async function removeGrant(executor: Executor, grantId: string): Promise<void> {
  for (const table of OF_GRANTS) {
    await executor.run(`DELETE FROM ${table} WHERE grant_id = ?`, [grantId])
  }
}

/** Removes at most `maxRows` rows: records that have ended, and with a grant its bindings. */
export async function removeEndedGrants(
  executor: Executor,
  endedBefore: number,
  maxRows: number,
): Promise<number> {
  const ended = await executor.all<Ended>(
    `SELECT model, id_hash AS idHash, grant_id AS grantId FROM authorization_records
      WHERE expires_at < ? ORDER BY expires_at LIMIT ?${executor.dialect.forUpdate}`,
    [endedBefore, maxRows],
  )
  let removed = 0
  for (const { model, idHash, grantId } of ended) {
    if (model === 'Grant') removed += await removeBindings(executor, grantId, maxRows - removed)
    if (removed >= maxRows) break
    const { affected } = await executor.run(
      'DELETE FROM authorization_records WHERE model = ? AND id_hash = ?',
      [model, idHash],
    )
    removed += affected
  }
  return removed
}

async function removeBindings(
  executor: Executor,
  grantId: string,
  maxRows: number,
): Promise<number> {
  const bound = await executor.all<{ channel: number }>(
    'SELECT channel FROM bindings WHERE grant_id = ? ORDER BY channel LIMIT ?',
    [grantId, maxRows],
  )
  const last = bound.at(-1)
  if (last === undefined) return 0
  const { affected } = await executor.run(
    'DELETE FROM bindings WHERE grant_id = ? AND channel <= ?',
    [grantId, last.channel],
  )
  return affected
}

/** Removes at most `maxRows` bind sessions that ended before. */
export async function removeBindSessions(
  executor: Executor,
  endedBefore: number,
  maxRows: number,
): Promise<number> {
  const ended = await executor.all<{ bindSession: string }>(
    `SELECT bind_session AS bindSession FROM bind_sessions
      WHERE expires_at < ? ORDER BY expires_at LIMIT ?${executor.dialect.forUpdate}`,
    [endedBefore, maxRows],
  )
  for (const { bindSession } of ended) {
    await executor.run('DELETE FROM bind_sessions WHERE bind_session = ?', [bindSession])
  }
  return ended.length
}
