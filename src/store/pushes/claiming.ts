// Claims due jobs for one worker.
//
// Invariants:
//   claiming/1. One worker at a time has a job: claiming locks its row, and until the claim ends
//               the job is not due. So a worker that is gone loses its claims.
//   claiming/2. Jobs of a device go out in their order: none is claimed while an earlier one waits,
//               was deferred, or is claimed by another worker. It is put off instead, behind that
//               one.
//   claiming/3. Only the newest change of a Thing is sent, and an update only when none was sent
//               during the interval before; older changes are superseded.
//   claiming/4. The cost of a claim follows its limit, and not the number of jobs that a device
//               has. Of a Thing, all jobs are read once its newest update is due: the older ones
//               end in the claims that find them.
//   claiming/5. Of a device, the first due jobs are claimed first, though others have been due for
//               longer: jobs of a worker that is gone are due when its claims end. Otherwise claims
//               would put off the whole queue behind them, before they come to them.

import { OPERATION_STATUSES } from '#domain/operation'
import type { OperationStatus } from '#domain/operation'
import type { ClaimedPushes, EndedOperations, PushClaim } from '#domain/push'
import type { PreferenceReader } from '#domain/push/preferences'
import type { Executor } from '#src/store/jobs/executor'
import type { PushState } from '#src/store/entities/pushes'
import { changeById, removeById } from '#src/store/statements/bulk'
import { firstBlockers, runsFrom } from './blockers.ts'
import type { Blocker, Run } from './blockers.ts'
import { loadPushes } from './loading.ts'
import type { DueJob } from './loading.ts'
import { Delays, PUT_OFF_MS } from './delays.ts'
import { longQueues } from './long-queues.ts'
import type { Ended, Settling } from './settling.ts'
import { sortThings } from './things.ts'

interface ClaimingParts {
  readonly settling: Settling
  readonly preferences: PreferenceReader
}

export async function claimJobs(
  executor: Executor,
  claim: PushClaim,
  { settling, preferences }: ClaimingParts,
): Promise<ClaimedPushes> {
  const longest = await dueJobs(executor, claim)
  const found = [...(await earlierJobs(executor, longest, claim)), ...longest]
  const due = found.slice(0, claim.limit)
  const marks = due.filter(({ state }) => hasEnded(state))
  const jobs = due.filter(({ state }) => !hasEnded(state))
  const expired = jobs.filter(({ expiresAt }) => expiresAt <= claim.nowMs)
  const live = jobs.filter(({ expiresAt }) => expiresAt > claim.nowMs)
  const things = await sortThings(executor, live, claim) // claiming/3
  await removeById(executor, 'push_jobs', marks)
  // No job waits for one that ends here.
  const over = [...expired.map(({ id }) => id), ...things.superseded]
  const ended = await settling.end(executor, over.map(unserved), claim.nowMs)
  const claimed = await claimInOrder(executor, things.ready, claim) // claiming/2
  const loaded = await loadPushes(executor, claim, { jobs: claimed, preferences })
  const { pushes, unreachable, outlived, unreadable, filtered } = loaded
  const lost: readonly Ended[] = [
    ...[...unreachable, ...outlived].map(unserved),
    ...unreadable.map((id) => ({ id, isFailure: true })), // W6
    ...filtered.map((id) => ({ id, isFailure: false, isFiltered: true }) as const),
  ]
  const endedToo = await settling.end(executor, lost, claim.nowMs)
  const next = await executor.first<{ dueAt: number }>(
    `SELECT due_at AS dueAt FROM push_jobs WHERE provider = ? ORDER BY due_at LIMIT 1`,
    [claim.provider],
  )
  return {
    pushes,
    expired: expired.length + outlived.length,
    superseded: things.superseded.length + unreachable.length,
    unreadable: unreadable.length,
    filtered: filtered.length,
    ended: sumOf(ended, endedToo),
    hasMore: found.length >= claim.limit,
    nextDueMs: next?.dueAt,
  }
}

function sumOf(one: EndedOperations, other: EndedOperations): EndedOperations {
  const sum: Partial<Record<OperationStatus, number>> = { ...one }
  for (const status of OPERATION_STATUSES) {
    const more = other[status]
    if (more !== undefined) sum[status] = (sum[status] ?? 0) + more
  }
  return sum
}

/** True for the mark of a push that has ended. */
export const hasEnded = (state: PushState): boolean => state === 'pushed' || state === 'failed'

const unserved = (id: number): Ended => ({ id, isFailure: false })

const JOB_COLUMNS = `j.id, j.device, j.channel, j.seq, j.thing, j.state,
  j.route_revision AS routeRevision, j.attempts, j.queued_at AS queuedAt, j.expires_at AS expiresAt`

const IN_RUN = '(j.device = ? AND j.state = ? AND j.id >= ? AND j.id < ?)'
/** Runs that one statement reads. */
const RUNS_AT_ONCE = 24

/** claiming/1: the jobs that have been due for longest. */
const dueJobs = (
  executor: Executor,
  { provider, nowMs, limit }: PushClaim,
): Promise<readonly DueJob[]> =>
  executor.all<DueJob>(
    `SELECT ${JOB_COLUMNS}
      FROM push_jobs j WHERE j.provider = ? AND j.due_at <= ?
      ORDER BY j.due_at, j.id LIMIT ?${executor.dialect.forUpdateOfFree}`,
    [provider, nowMs, limit],
  )

/**
 * claiming/5: due jobs of the same devices, before the first of these, from the first that blocks
 * them on. Each device has a share of the limit. (claiming/4)
 */
async function earlierJobs(
  executor: Executor,
  jobs: readonly DueJob[],
  claim: PushClaim,
): Promise<readonly DueJob[]> {
  const { nowMs, limit } = claim
  const below = new Map<number, number>()
  for (const { device, id } of jobs) below.set(device, Math.min(id, below.get(device) ?? id))
  const blockers = [...(await firstBlockers(executor, below, claim)).values()]
  const due = blockers.filter(({ dueAt }) => dueAt <= nowMs)
  if (due.length === 0) return []
  const runs = await runsFrom(executor, due, { below, length: Math.ceil(limit / due.length) })
  const found: DueJob[] = []
  for (let start = 0; start < runs.length; start += RUNS_AT_ONCE) {
    found.push(...(await dueIn(executor, runs.slice(start, start + RUNS_AT_ONCE), claim)))
  }
  return found.toSorted((one, next) => one.id - next.id).slice(0, limit)
}

/**
 * The due jobs of some runs. Their bounds are parameters and not a table of keys: MySQL would read
 * the whole queue of a device for each row of such a table.
 */
function dueIn(
  executor: Executor,
  runs: readonly Run[],
  { provider, nowMs, limit }: PushClaim,
): Promise<readonly DueJob[]> {
  const { byIndex, forUpdateOfFree } = executor.dialect
  // Repeats the last one, so that there is one text.
  const bounds = Array.from({ length: RUNS_AT_ONCE }, (_, at) => runs[at] ?? runs.at(-1) ?? [])
  return executor.all<DueJob>(
    `SELECT ${JOB_COLUMNS} FROM push_jobs j${byIndex('push_jobs_by_device')}
      WHERE (${bounds.map(() => IN_RUN).join(' OR ')}) AND NOT (j.provider <> ? OR j.due_at > ?)
      ORDER BY j.id LIMIT ?${forUpdateOfFree}`,
    [...bounds.flat(), provider, nowMs, limit],
  )
}

/** claiming/2: claims jobs, except those behind an earlier one that this worker does not have. */
async function claimInOrder(
  executor: Executor,
  jobs: readonly DueJob[],
  { worker, nowMs, untilMs }: PushClaim,
): Promise<readonly DueJob[]> {
  if (jobs.length === 0) return []
  await changeById(executor, jobs, 'UPDATE push_jobs SET claim = ?, due_at = ?', [worker, untilMs])
  const newest = new Map<number, number>()
  for (const { device, id } of jobs) newest.set(device, Math.max(id, newest.get(device) ?? id))
  const blockers = await firstBlockers(executor, newest, { worker, nowMs })
  const queues = await longQueues(executor, [...newest.keys()])
  const claimed: DueJob[] = []
  const behind = new Delays()
  for (const job of jobs) {
    const blocker = blockers.get(job.device)
    const waitMs = queues.waitMs(job)
    const isBlocked = blocker !== undefined && job.id >= blocker.id
    if (!isBlocked && waitMs === 0) claimed.push(job)
    else {
      const unblockedAt = isBlocked ? againAt(blocker, { nowMs, untilMs }) : 0
      behind.add(job.id, Math.max(unblockedAt, nowMs + waitMs)) // long-queues/1
    }
  }
  await behind.putOff(executor)
  return claimed.toSorted((one, next) => one.id - next.id)
}

/**
 * The time at which a job behind another one is tried again. Behind a waiting one it waits as long
 * as that one does. Behind a claimed one it waits a while, then again half as long as the claim has
 * lasted: a worker that is gone keeps its claims to their end, and asking for every job behind them
 * ten times a second would keep the others from their work.
 */
function againAt(
  { dueAt, isClaimed }: Blocker,
  { nowMs, untilMs }: Pick<PushClaim, 'nowMs' | 'untilMs'>,
): number {
  const soon = nowMs + PUT_OFF_MS
  if (isClaimed === 0) return Math.max(soon, dueAt)
  const lastedMs = Math.max(0, untilMs - dueAt)
  return Math.max(soon, Math.min(dueAt, nowMs + Math.ceil(lastedMs / 2)))
}
