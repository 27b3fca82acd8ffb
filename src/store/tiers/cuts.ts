// What readers and writers of chunks know of the deletions of Things. (tier-removal/1)

import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import type { Cell } from './cells.ts'

/** Deletions of a channel: the run of each by its Thing, and the number of the newest. */
export interface Cuts {
  readonly runs: ReadonlyMap<string, number>
  readonly newest: number
}

/** The deletions of the Things of a cell. */
export async function cutsWithin(
  database: Database,
  channel: number,
  { firstPlace, lastPlace }: Cell,
): Promise<Cuts> {
  const rows = await database.all<{ id: number; thingId: string | null; run: number }>(
    `SELECT id, thing_id AS thingId, run FROM tier_cuts
      WHERE channel = ? AND place >= ? AND place <= ?
    UNION ALL SELECT max(id), NULL, 0 FROM tier_cuts WHERE channel = ?`,
    [channel, firstPlace, lastPlace, channel],
  )
  const runs = new Map<string, number>()
  let newest = 0
  for (const { id, thingId, run } of rows) {
    newest = Math.max(newest, id)
    if (thingId !== null) runs.set(thingId, Math.max(run, runs.get(thingId) ?? 0))
  }
  return { runs, newest }
}

/** True when the channel has a deletion that those do not have. */
export async function isCutSince(
  executor: Executor,
  channel: number,
  { newest }: Cuts,
): Promise<boolean> {
  const select = 'SELECT id FROM tier_cuts WHERE channel = ? AND id > ? LIMIT 1'
  return (await executor.first(select, [channel, newest])) !== undefined
}
