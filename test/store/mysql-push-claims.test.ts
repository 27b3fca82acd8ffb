// Goal: a claim costs the same, however many jobs a device has (claiming/4).
// Method: MariaDB counts the rows that an executor reads, and those that an index passes by.

import type { Executor } from '#src/store/jobs/executor'
import { claimJobs } from '#src/store/pushes/claiming'
import { PreferenceReader } from '#domain/push/preferences'
import { Settling } from '#src/store/pushes/settling'
import { newDatabase, sharedMariaDb } from '#test/support/mariadb'
import { CLAIM_MS, RULES, addPushDevice } from '#test/support/push-jobs'
import { ChannelWriter } from '#test/support/store-writer'
import { message } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

const mariaDb = sharedMariaDb()

const NOW = 2_000
const LATER = NOW + 900_000
const LIMIT = 10
/** Beyond the last place in a queue that a claim looks at. (long-queues.ts) */
const FEW = 1_100
const MANY = 6_000
/** Rows that may be read more: the pages of an index are estimated by reading some. */
const TOLERANCE = 50

const COLUMNS = `provider, device, route_revision, channel, seq, op_id, thing, state, queued_at,
  due_at, expires_at, attempts, claim`

/** A queue of one device: `change` sets columns of its first jobs, `changed` gives their number. */
interface Queue {
  readonly name: string
  readonly change: string
  readonly changed: (count: number) => number
}

const half = (count: number): number => Math.floor(count / 2)
const QUEUES: readonly Queue[] = [
  { name: 'all are due', change: `due_at = ${NOW}`, changed: (count) => count },
  {
    name: 'most wait behind a deferred one',
    change: `due_at = ${LATER}, state = 'deferred'`,
    changed: (count) => count - LIMIT,
  },
  {
    name: 'half are with another worker',
    change: `due_at = ${LATER}, claim = 'other'`,
    changed: half,
  },
  {
    name: 'half were with a worker that is gone',
    change: `due_at = ${NOW}, claim = 'gone'`,
    changed: half,
  },
]

mariaDb.test(
  'claiming/4, blockers/1: a claim reads no more of many jobs than of few',
  async (t, server) => {
    for (const { name, change, changed } of QUEUES) {
      const reads: number[] = []
      for (const count of [FEW, MANY]) {
        const store = await openWatched(t, await newDatabase(server))
        const writer = await ChannelWriter.open(store, 1)
        await addPushDevice(store, writer.channelId, 1)
        await writer.take(message()).commit()
        await store.database.durable(async (executor) => {
          await multiply(executor, count)
          await executor.run(`UPDATE push_jobs SET ${change} ORDER BY id LIMIT ${changed(count)}`)
        })
        const { database, tables } = store
        const settling = new Settling(RULES, tables, database.dialect)
        const parts = { settling, preferences: new PreferenceReader() }
        const claim = { provider: 'apns', worker: 'w', limit: LIMIT } as const
        const times = { nowMs: NOW, untilMs: NOW + CLAIM_MS }
        const read = await database.repeatable(async (executor) => {
          const before = await rowsRead(executor)
          await claimJobs(executor, { ...claim, ...times }, parts)
          return (await rowsRead(executor)) - before
        })
        reads.push(read)
      }
      const [few = 0, many = 0] = reads
      t.true(many <= few + TOLERANCE, `${name}: ${few} rows of ${FEW} jobs, ${many} of ${MANY}`)
    }
  },
)

/** Doubles the jobs until there are so many. */
async function multiply(executor: Executor, count: number): Promise<void> {
  for (let jobs = 1; jobs < count; jobs *= 2) {
    await executor.run(
      `INSERT INTO push_jobs (${COLUMNS}) SELECT ${COLUMNS} FROM push_jobs
        ORDER BY id LIMIT ${Math.min(jobs, count - jobs)}`,
    )
  }
}

async function rowsRead(executor: Executor): Promise<number> {
  const rows = await executor.all<{ readonly Value: string }>(
    `SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%'
      OR Variable_name = 'Handler_icp_attempts'`,
  )
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
}
