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
//   claiming/4. The cost of a claim follows the number of due jobs, not of stored ones.
//   claiming/5. Of a device, the first due jobs are claimed first, though others have been due for
//               longer: jobs of a worker that is gone are due when its claims end. Otherwise claims
//               would put off the whole queue behind them, before they come to them.

import { OPERATION_STATUSES } from '#domain/operation'
import type { OperationStatus } from '#domain/operation'
import type { ClaimedPushes, EndedOperations, PushClaim } from '#domain/push'
import type { Session } from '#src/store/session'
import { inChunks, removeById } from '#src/store/bulk'
import type { PushState } from '#src/store/entities/pushes'
import { loadPushes } from './loading.ts'
import type { Job } from './loading.ts'
import type { Ended, Settling } from './settling.ts'

/** Milliseconds until a job that waits for another worker's job is tried again, at least. */
const PUT_OFF_MS = 100

interface DueJob extends Job {
  readonly state: PushState
}

export async function claimJobs(
  session: Session,
  claim: PushClaim,
  settling: Settling,
): Promise<ClaimedPushes> {
  const longest = await dueJobs(session, claim)
  const found = [...(await earlierJobs(session, longest, claim)), ...longest]
  const due = found.slice(0, claim.limit)
  const marks = due.filter(({ state }) => state === 'pushed')
  const jobs = due.filter(({ state }) => state !== 'pushed')
  const expired = jobs.filter(({ expiresAt }) => expiresAt <= claim.nowMs)
  const live = jobs.filter(({ expiresAt }) => expiresAt > claim.nowMs)
  const things = await sortThings(session, live, claim) // claiming/3
  await removeById(session, 'push_jobs', marks)
  // No job waits for one that ends here.
  const over = [...expired.map(({ id }) => id), ...things.superseded]
  const ended = await settling.end(session, over.map(unserved), claim.nowMs)
  const claimed = await claimInOrder(session, things.ready, claim) // claiming/2
  const { pushes, unreachable, outlived } = await loadPushes(session, claim.provider, claimed)
  const lost = [...unreachable, ...outlived].map(unserved)
  const endedToo = await settling.end(session, lost, claim.nowMs)
  const next = await session.first<{ dueAt: number }>(
    `SELECT due_at AS dueAt FROM push_jobs WHERE provider = ? ORDER BY due_at LIMIT 1`,
    [claim.provider],
  )
  return {
    pushes,
    expired: expired.length + outlived.length,
    superseded: things.superseded.length + unreachable.length,
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

const unserved = (id: number): Ended => ({ id, isFailure: false })

const JOB_COLUMNS = `j.id, j.device, j.channel, j.seq, j.thing, j.state,
  j.route_revision AS routeRevision, j.attempts, j.queued_at AS queuedAt, j.expires_at AS expiresAt`

/** claiming/1: the jobs that have been due for longest. */
const dueJobs = (
  session: Session,
  { provider, nowMs, limit }: PushClaim,
): Promise<readonly DueJob[]> =>
  session.all<DueJob>(
    `SELECT ${JOB_COLUMNS}
      FROM push_jobs j WHERE j.provider = ? AND j.due_at <= ?
      ORDER BY j.due_at, j.id LIMIT ?${session.dialect.forUpdateOfFree}`,
    [provider, nowMs, limit],
  )

/**
 * claiming/5: due jobs of the same devices, before the first of these. The condition is written so
 * that the database looks jobs up by device: the index of due times finds the whole queue. The keys
 * are a derived table because MySQL refuses to lock beside JSON_TABLE itself.
 */
async function earlierJobs(
  session: Session,
  jobs: readonly DueJob[],
  { provider, nowMs, limit }: PushClaim,
): Promise<readonly DueJob[]> {
  if (jobs.length === 0) return []
  const first = new Map<number, number>()
  for (const { device, id } of jobs) first.set(device, Math.min(id, first.get(device) ?? id))
  const { dialect } = session
  return session.all<DueJob>(
    `SELECT${dialect.inOrder} ${JOB_COLUMNS}
      FROM (SELECT * FROM ${dialect.keys('k', { device: 'integer', first: 'integer' })}) k
      CROSS JOIN push_jobs j ON j.device = k.device
        AND j.state IN ('waiting', 'deferred', 'limited') AND j.id < k.first
        AND NOT (j.provider <> ? OR j.due_at > ?)
      ORDER BY j.id LIMIT ?${dialect.forUpdateOfFree}`,
    [JSON.stringify([...first]), provider, nowMs, limit],
  )
}

interface Sorted {
  readonly ready: readonly DueJob[]
  readonly superseded: readonly number[]
}

interface ThingJobs {
  readonly device: number
  readonly channel: number
  readonly thing: string
  /** The newest job, in any state. */
  readonly newest: number
  /** The time until which no update is sent; null when there was no recent push. */
  readonly pushedUntil: number | null
  /** Claimed jobs; MySQL gives a sum as text. */
  readonly claimed: number | string
}

/** claiming/3 */
async function sortThings(
  session: Session,
  jobs: readonly DueJob[],
  { nowMs }: PushClaim,
): Promise<Sorted> {
  const jobsByThing = await thingJobsOf(session, jobs, nowMs)
  const ready: DueJob[] = []
  const superseded: number[] = []
  const held = new Map<number, number[]>()
  for (const job of jobs) {
    const thingJobs = jobsByThing.get(keyOf(job))
    if (thingJobs === undefined) {
      ready.push(job)
      continue
    }
    const { newest, pushedUntil, claimed } = thingJobs
    if (job.id < newest) superseded.push(job.id)
    else if (job.state !== 'limited') ready.push(job)
    else if (pushedUntil !== null && pushedUntil > nowMs) addTo(held, pushedUntil, job.id)
    else if (Number(claimed) > 0) addTo(held, nowMs + PUT_OFF_MS, job.id)
    else ready.push(job)
  }
  await putOff(session, held)
  return { ready, superseded }
}

const keyOf = ({ device, channel, thing }: Pick<DueJob, 'device' | 'channel' | 'thing'>): string =>
  `${device} ${channel} ${thing}`

async function thingJobsOf(
  session: Session,
  jobs: readonly DueJob[],
  nowMs: number,
): Promise<ReadonlyMap<string, ThingJobs>> {
  const ofThings = jobs.filter(({ thing }) => thing !== null)
  if (ofThings.length === 0) return new Map()
  const keys = new Map(
    ofThings.map((job) => [keyOf(job), [job.device, job.channel, job.thing, nowMs]]),
  )
  const { dialect } = session
  const columns = {
    device: 'integer',
    channel: 'integer',
    thing: 'text',
    now_ms: 'integer',
  } as const
  const rows = await session.all<ThingJobs>(
    `SELECT${dialect.inOrder} k.device, k.channel, k.thing, max(j.id) AS newest,
        max(CASE WHEN j.state = 'pushed' THEN j.due_at END) AS pushedUntil,
        sum(CASE WHEN j.claim <> '' AND j.due_at > k.now_ms THEN 1 ELSE 0 END) AS claimed
      FROM ${dialect.keys('k', columns)}
      CROSS JOIN push_jobs j
        ON j.device = k.device AND j.channel = k.channel AND j.thing = k.thing
      GROUP BY k.device, k.channel, k.thing`,
    [JSON.stringify([...keys.values()])],
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** claiming/2: claims jobs, except those behind an earlier one that this worker does not have. */
async function claimInOrder(
  session: Session,
  jobs: readonly DueJob[],
  { worker, nowMs, untilMs }: PushClaim,
): Promise<readonly DueJob[]> {
  if (jobs.length === 0) return []
  await inChunks(
    jobs.map(({ id }) => id),
    (list, part) =>
      session.run(`UPDATE push_jobs SET claim = ?, due_at = ? WHERE id IN (${list})`, [
        worker,
        untilMs,
        ...part,
      ]),
  )
  const blockers = await firstBlockers(session, jobs, { worker, nowMs })
  const isBehind = ({ device, id }: DueJob): boolean => id > (blockers.get(device)?.id ?? Infinity)
  const behind = new Map<number, number[]>()
  for (const job of jobs.filter(isBehind)) {
    addTo(behind, againAt(blockers.get(job.device), { nowMs, untilMs }), job.id)
  }
  await putOff(session, behind)
  return jobs.filter((job) => !isBehind(job)).toSorted((one, next) => one.id - next.id)
}

/** A job that a device's later jobs wait for, and that this worker does not have. */
interface Blocker {
  readonly device: number
  /** The id of the first such job. */
  readonly id: number
  /** The time until which such jobs wait; null when all of them are claimed. */
  readonly waitUntil: number | null
  /** The end of the newest claim of another worker; null without one. */
  readonly claimedUntil: number | null
}

/**
 * The time at which a job behind others is tried again. Behind waiting ones it waits as long as
 * they do. Behind claimed ones it waits a while, then again half as long as the claim has lasted: a
 * worker that is gone keeps its claims to their end, and asking for every job behind them ten times
 * a second would keep the others from their work.
 */
function againAt(
  blocker: Blocker | undefined,
  { nowMs, untilMs }: Pick<PushClaim, 'nowMs' | 'untilMs'>,
): number {
  const { waitUntil, claimedUntil } = blocker ?? {}
  const leftMs = (claimedUntil ?? nowMs) - nowMs
  const lastedMs = Math.max(0, untilMs - nowMs - leftMs)
  const claimMs = Math.max(PUT_OFF_MS, Math.min(leftMs, lastedMs / 2))
  return Math.max(waitUntil ?? 0, nowMs + Math.ceil(claimMs))
}

/**
 * An update that only waits for its interval blocks no job. One statement finds them: between two
 * statements, another worker's job may end while the jobs behind it still count as blocked.
 */
async function firstBlockers(
  session: Session,
  jobs: readonly DueJob[],
  { worker, nowMs }: Pick<PushClaim, 'worker' | 'nowMs'>,
): Promise<ReadonlyMap<number, Blocker>> {
  const newest = new Map<number, number>()
  for (const { device, id } of jobs) newest.set(device, Math.max(id, newest.get(device) ?? 0))
  const { dialect } = session
  const columns = {
    device: 'integer',
    newest: 'integer',
    worker: 'text',
    now_ms: 'integer',
  } as const
  const rows = await session.all<Blocker>(
    `SELECT${dialect.inOrder} k.device, min(j.id) AS id,
        max(CASE WHEN j.claim = '' THEN j.due_at END) AS waitUntil,
        max(CASE WHEN j.claim <> '' THEN j.due_at END) AS claimedUntil
      FROM ${dialect.keys('k', columns)}
      CROSS JOIN push_jobs j ON j.device = k.device
        AND j.state IN ('waiting', 'deferred', 'limited') AND j.id < k.newest
        AND NOT (j.claim = k.worker AND j.due_at > k.now_ms)
        AND NOT (j.state = 'limited' AND j.claim = '' AND j.due_at > k.now_ms)
      GROUP BY k.device`,
    [JSON.stringify([...newest].map(([device, id]) => [device, id, worker, nowMs]))],
  )
  return new Map(rows.map((row) => [row.device, row]))
}

function addTo(byTime: Map<number, number[]>, untilMs: number, id: number): void {
  const ids = byTime.get(untilMs)
  if (ids === undefined) byTime.set(untilMs, [id])
  else ids.push(id)
}

async function putOff(session: Session, byTime: ReadonlyMap<number, readonly number[]>) {
  for (const [untilMs, ids] of byTime) {
    await inChunks(ids, (list, part) =>
      session.run(`UPDATE push_jobs SET due_at = ?, claim = '' WHERE id IN (${list})`, [
        untilMs,
        ...part,
      ]),
    )
  }
}
