// Sorts due jobs of Things: only the newest change of a Thing is sent, and an update only when none
// was sent during the interval before. (claiming/3)

import type { PushClaim } from '#domain/push'
import type { Executor } from '#src/store/jobs/executor'
import { Delays, PUT_OFF_MS } from './delays.ts'
import type { DueJob } from './loading.ts'

interface Sorted {
  readonly ready: readonly DueJob[]
  readonly superseded: readonly number[]
}

type ThingKey = Pick<DueJob, 'device' | 'channel' | 'thing'>

interface Newest extends ThingKey {
  /** The newest job, in any state. */
  readonly newest: number
}

interface Latest extends ThingKey {
  /** The time until which no update is sent; null when there was no recent push. */
  readonly pushedUntil: number | null
  /** Claimed jobs; MySQL gives a sum as text. */
  readonly claimed: number | string
}

/** Puts the updates off that have to wait. */
export async function sortThings(
  executor: Executor,
  jobs: readonly DueJob[],
  { nowMs }: Pick<PushClaim, 'nowMs'>,
): Promise<Sorted> {
  const newest = await newestOf(executor, jobs)
  const isNewest = (job: DueJob): boolean => job.id >= (newest.get(keyOf(job)) ?? 0)
  const latest = await latestOf(
    executor,
    jobs.filter((job) => job.state === 'limited' && isNewest(job)),
    nowMs,
  )
  const ready: DueJob[] = []
  const superseded: number[] = []
  const held = new Delays()
  for (const job of jobs) {
    const { pushedUntil, claimed } = latest.get(keyOf(job)) ?? { pushedUntil: null, claimed: 0 }
    if (!isNewest(job)) superseded.push(job.id)
    else if (job.state !== 'limited') ready.push(job)
    else if (pushedUntil !== null && pushedUntil > nowMs) held.add(job.id, pushedUntil)
    else if (Number(claimed) > 0) held.add(job.id, nowMs + PUT_OFF_MS)
    else ready.push(job)
  }
  await held.putOff(executor)
  return { ready, superseded }
}

const keyOf = ({ device, channel, thing }: ThingKey): string => `${device} ${channel} ${thing}`

const KEY_COLUMNS = { device: 'integer', channel: 'integer', thing: 'text' } as const

/** The keys of the jobs of Things as a parameter; undefined without any. */
function keysOf(jobs: readonly DueJob[]): string | undefined {
  const keys = new Map(
    jobs.flatMap((job) => {
      const { device, channel, thing } = job
      return thing === null ? [] : [[keyOf(job), [device, channel, thing]]]
    }),
  )
  return keys.size === 0 ? undefined : JSON.stringify([...keys.values()])
}

async function newestOf(
  executor: Executor,
  jobs: readonly DueJob[],
): Promise<ReadonlyMap<string, number>> {
  const keys = keysOf(jobs)
  if (keys === undefined) return new Map()
  const { dialect } = executor
  const rows = await executor.all<Newest>(
    `SELECT k.device, k.channel, k.thing,
        (SELECT e.id FROM push_jobs e${dialect.byIndex('push_jobs_by_thing')}
          WHERE e.device = k.device AND e.channel = k.channel AND e.thing = k.thing
          ORDER BY e.id DESC LIMIT 1) AS newest
      FROM ${dialect.keys('k', KEY_COLUMNS)}`,
    [keys],
  )
  return new Map(rows.map((row) => [keyOf(row), row.newest]))
}

/** Recent pushes and claims of the Things whose newest update is due. */
async function latestOf(
  executor: Executor,
  jobs: readonly DueJob[],
  nowMs: number,
): Promise<ReadonlyMap<string, Latest>> {
  const keys = keysOf(jobs)
  if (keys === undefined) return new Map()
  const { dialect } = executor
  const rows = await executor.all<Latest>(
    `SELECT${dialect.inOrder} k.device, k.channel, k.thing,
        max(CASE WHEN j.state = 'pushed' THEN j.due_at END) AS pushedUntil,
        sum(CASE WHEN j.claim <> '' AND j.due_at > ? THEN 1 ELSE 0 END) AS claimed
      FROM ${dialect.keys('k', KEY_COLUMNS)}
      CROSS JOIN push_jobs j
        ON j.device = k.device AND j.channel = k.channel AND j.thing = k.thing
      GROUP BY k.device, k.channel, k.thing`,
    [nowMs, keys],
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}
