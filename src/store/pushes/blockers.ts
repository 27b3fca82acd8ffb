// Finds the first job of each device for which its later jobs wait.
//
// Invariants:
//   blockers/1. A look reads the jobs of a device in their order, up to the first that blocks:
//               those before it are this worker's own, which dispatch bounds, or updates that wait
//               for their interval. From there on it reads as many as it is asked for. A bound
//               behind that would not end the look: MySQL goes on through the index.

import type { PushClaim } from '#domain/push'
import type { PushState } from '#src/store/entities/pushes'
import type { Executor } from '#src/store/jobs/executor'

/** A job that a device's later jobs wait for, and that this worker does not have. */
export interface Blocker {
  readonly device: number
  readonly id: number
  /** The time at which it is due; while another worker has it, the end of that claim. */
  readonly dueAt: number
  /** 1 when it is claimed by another worker, or was by one that is gone; otherwise 0. */
  readonly isClaimed: number
}

/** The states of jobs that block. */
const BLOCKING: readonly PushState[] = ['waiting', 'deferred', 'limited']

/**
 * Returns the first blocker of each device, if its id is below the given one. An update that only
 * waits for its interval blocks no job. One statement finds them: between two statements, another
 * worker's job may end while the jobs behind it still count as blocked.
 */
export async function firstBlockers(
  executor: Executor,
  below: ReadonlyMap<number, number>,
  { worker, nowMs }: Pick<PushClaim, 'worker' | 'nowMs'>,
): Promise<ReadonlyMap<number, Blocker>> {
  if (below.size === 0) return new Map()
  const { dialect } = executor
  const keys = [...below].flatMap(([device, id]) => BLOCKING.map((state) => [device, state, id]))
  const columns = { device: 'integer', state: 'text', below: 'integer' } as const
  const rows = await executor.all<Blocker>(
    `SELECT${dialect.inOrder} j.device, j.id, j.due_at AS dueAt,
        CASE WHEN j.claim = '' THEN 0 ELSE 1 END AS isClaimed
      FROM ${dialect.keys('k', columns)}
      CROSS JOIN push_jobs j ON j.id = (
        SELECT e.id FROM push_jobs e${dialect.byIndex('push_jobs_by_device')}
        WHERE e.device = k.device AND e.state = k.state
          AND NOT (e.claim = ? AND e.due_at > ?)
          AND NOT (e.state = 'limited' AND e.claim = '' AND e.due_at > ?)
        ORDER BY e.id LIMIT 1) AND j.id < k.below`,
    [JSON.stringify(keys), worker, nowMs, nowMs],
  )
  const first = new Map<number, Blocker>()
  for (const row of rows) {
    if (row.id < (first.get(row.device)?.id ?? Infinity)) first.set(row.device, row)
  }
  return first
}

/** Ids of a device's jobs in one state: from `first` on, below `below`. */
export type Run = readonly [device: number, state: PushState, first: number, below: number]

/** Returns the runs that begin at the blockers and hold at most `length` jobs each. */
export async function runsFrom(
  executor: Executor,
  blockers: readonly Pick<Blocker, 'device' | 'id'>[],
  { below, length }: { readonly below: ReadonlyMap<number, number>; readonly length: number },
): Promise<readonly Run[]> {
  const { dialect } = executor
  const keys = blockers.flatMap(({ device, id }) => BLOCKING.map((state) => [device, state, id]))
  const columns = { device: 'integer', state: 'text', first: 'integer' } as const
  const rows = await executor.all<{
    readonly device: number
    readonly state: PushState
    readonly first: number
    readonly next: number | null
  }>(
    `SELECT k.device, k.state, k.first, (
        SELECT e.id FROM push_jobs e${dialect.byIndex('push_jobs_by_device')}
        WHERE e.device = k.device AND e.state = k.state AND e.id >= k.first
        ORDER BY e.id LIMIT 1 OFFSET ?) AS next
      FROM ${dialect.keys('k', columns)}`,
    [length, JSON.stringify(keys)],
  )
  return rows.map(({ device, state, first, next }) => {
    const end = below.get(device) ?? 0
    return [device, state, first, Math.min(next ?? end, end)]
  })
}
