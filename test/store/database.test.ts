import { inspect } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { LogMismatch } from '#domain/lane'
import { isOutage } from '#domain/store-ports'
import { Database, RolledBack } from '#src/store/jobs/database'
import { JOBS_WAITING_MAX } from '#src/store/jobs/gate'
import type { Executor } from '#src/store/jobs/executor'
import { sqlite } from '#src/store/sqlite/dialect'
import { SqliteSource } from '#src/store/sqlite/source'
import { StoreBusy, StoreError } from '#src/store/store-error'
import { FakeMeter } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'
import { databasePath } from '#test/support/sqlite-store'

const SECRET = 'hunter2-secret'

/** A database with one table `notes (id unique, text)`. */
async function openNotes(t: ExecutionContext, path?: string) {
  const source = new SqliteSource(path ?? (await databasePath(t)))
  const meter = new FakeMeter()
  const database = new Database(source, sqlite, meter, realRuntime)
  t.teardown(() => database.close())
  await database.durable((executor) =>
    executor.run(
      'CREATE TABLE IF NOT EXISTS notes (id integer PRIMARY KEY, text varchar NOT NULL)',
    ),
  )
  const texts = () =>
    database.read(async (executor) =>
      (await executor.all<{ text: string }>('SELECT text FROM notes ORDER BY id')).map(
        ({ text }) => text,
      ),
    )
  return { database, meter, texts }
}

const INSERT = 'INSERT INTO notes (id, text) VALUES (?, ?)'

test('database/1, sqlite/2: jobs run one after the other in the order of asking', async (t) => {
  const { database } = await openNotes(t)
  const seen: string[] = []
  const job = (name: string) =>
    database.repeatable(async (executor) => {
      seen.push(`${name} begins`)
      for (let count = 0; count < 3; count += 1) await executor.all('SELECT 1')
      seen.push(`${name} ends`)
    })
  await Promise.all([job('a'), job('b'), database.read(async () => void seen.push('c')), job('d')])
  t.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c', 'd begins', 'd ends'])
})

test('gate/2: beyond the bound a job is refused at once, and waiting jobs are served', async (t) => {
  const { database, meter } = await openNotes(t)
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let served = 0
  const first = database.read(() => gate)
  await Promise.resolve() // The first job is no longer waiting.
  const waiting = Array.from({ length: JOBS_WAITING_MAX }, () =>
    database.read(async () => {
      served += 1
    }),
  )
  t.is(meter.gauges.get('store_queue')?.(), JOBS_WAITING_MAX)
  await t.throwsAsync(
    database.read(async () => {}),
    { instanceOf: StoreBusy },
  )
  open()
  await Promise.all([first, ...waiting])
  t.is(served, JOBS_WAITING_MAX)
  t.is(meter.gauges.get('store_queue')?.(), 0)
  await t.notThrowsAsync(database.read(async () => {}))
})

test('sqlite/1: durable transactions are synced, repeatable ones with the next of them', async (t) => {
  const { database } = await openNotes(t)
  const level = 'PRAGMA synchronous'
  const rows = [
    ['durable', 2],
    ['repeatable', 1],
    ['durable', 2],
  ] as const
  for (const [kind, expected] of rows) {
    const row = await database[kind]((executor) => executor.first(level))
    t.deepEqual(row, { synchronous: expected })
  }
  const mode = await database.read((executor) => executor.first('PRAGMA journal_mode'))
  t.deepEqual(mode, { journal_mode: 'wal' })
})

test('a job that fails leaves nothing behind and does not stop the next one', async (t) => {
  const { database, texts } = await openNotes(t)
  const failing = database.durable(async (executor) => {
    await executor.run(INSERT, [1, 'a'])
    await executor.run(INSERT, [1, 'b'])
  })
  const next = database.durable((executor) => executor.run(INSERT, [2, 'c']))
  await t.throwsAsync(failing, { instanceOf: StoreError, code: 'SQLITE_CONSTRAINT_PRIMARYKEY' })
  await next
  t.deepEqual(await texts(), ['c'])
})

// Method: a job that fails, and whether the database as it is now is to blame.
const blamed: Readonly<Record<string, [isOutage: boolean, job: (executor: Executor) => unknown]>> =
  {
    'a row that exists': [false, (executor) => executor.run(INSERT, [1, 'b'])],
    'a value that is missing': [false, (executor) => executor.run(INSERT, [2, null])],
    'a value of another type': [false, (executor) => executor.run(INSERT, ['two', 'b'])],
    'a defect of the job': [false, () => void JSON.parse('{')],
    'a table that is not there': [true, (executor) => executor.run('DELETE FROM nowhere')],
    'a database that may not be written': [
      true,
      async (executor) => {
        await executor.run('PRAGMA query_only = 1')
        await executor.run(INSERT, [2, 'b'])
      },
    ],
    'a full disk': [
      true,
      async (executor) => {
        await executor.all('PRAGMA max_page_count = 1')
        await executor.run(INSERT, [2, 'b'.repeat(9_999)])
      },
    ],
  }

for (const [name, [isBlamed, job]] of Object.entries(blamed)) {
  test(`W6: ${name} ${isBlamed ? 'is an outage' : 'is no outage'}`, async (t) => {
    const { database } = await openNotes(t)
    await database.durable((executor) => executor.run(INSERT, [1, 'a']))
    const error = await t.throwsAsync(database.durable(async (executor) => job(executor)))
    t.is(isOutage(error), isBlamed, String(error))
  })
}

test('a job that rolls itself back gives its answer and leaves nothing behind', async (t) => {
  const { database, texts } = await openNotes(t)
  const answer = await database.durable(async (executor) => {
    await executor.run(INSERT, [1, 'a'])
    return new RolledBack('not now')
  })
  t.is(answer, 'not now')
  t.deepEqual(await texts(), [])
})

test('database/2: errors of the store carry no parameter', async (t) => {
  const { database } = await openNotes(t)
  await database.durable((executor) => executor.run(INSERT, [1, 'a']))
  const jobs: Parameters<typeof database.durable>[0][] = [
    (executor) => executor.run(INSERT, [1, SECRET]),
    (executor) => executor.run('INSERT INTO nowhere (a) VALUES (?)', [SECRET]),
    (executor) => executor.run('INSERT INTO notes (id, text) VALUES (?, ?)', [SECRET, 'x']),
    (executor) => executor.all('SELECT json_extract(?, ?)', ['{', SECRET]),
    async () => JSON.parse(`{"${SECRET}`) as unknown,
    async () => {
      throw new TypeError(`cannot read ${SECRET}`)
    },
    async () => {
      const thrown: unknown = SECRET
      throw thrown
    },
  ]
  for (const job of jobs) {
    const error = await t.throwsAsync(database.durable(job), { instanceOf: StoreError })
    const shown = [inspect(error, { depth: 9, showHidden: true }), error?.stack, String(error)]
    t.false(shown.join('\n').includes(SECRET))
    t.false(JSON.stringify(Object.getOwnPropertyDescriptors(error)).includes(SECRET))
  }
})

test('a sentence for the operator passes the gate as it is', async (t) => {
  const { database } = await openNotes(t)
  const mismatch = new LogMismatch('another log')
  const failing = database.durable(() => Promise.reject(mismatch))
  t.is(await t.throwsAsync(failing), mismatch)
})

test('closing ends the jobs that wait and refuses later ones', async (t) => {
  const path = await databasePath(t)
  const { database } = await openNotes(t, path)
  const last = database.durable((executor) => executor.run(INSERT, [1, 'last']))
  await database.close()
  await t.notThrowsAsync(last)
  await t.throwsAsync(
    database.read((executor) => executor.all('SELECT 1')),
    { instanceOf: StoreError, code: 'closed' },
  )
  const { texts } = await openNotes(t, path)
  t.deepEqual(await texts(), ['last'])
})
