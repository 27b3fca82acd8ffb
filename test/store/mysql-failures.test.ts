// Goal: a job on MySQL survives the network and other transactions, or says that it did not.

import { inspect } from 'node:util'

import type { Runtime } from '#domain/runtime'
import { isOutage } from '#domain/store-ports'
import { runAll } from '#src/store/statements/bulk'
import type { JobTraits } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { StoreError } from '#src/store/store-error'
import { device } from '#test/contracts/store-channels'
import { administer, emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { realRuntime } from '#test/support/real-runtime'
import { openNotes, rowsFor, write } from '#test/support/mysql-notes'
import { Relay } from '#test/support/relay'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'

const mariaDb = sharedMariaDb()
const A = channel(1)
const SECRET = 'hunter2-secret'

mariaDb.test(
  'database/3: transactions that block each other both succeed in the end',
  async (t, server) => {
    const { database, meter, texts } = await openNotes(t, server)
    let begun = 0
    let bothBegun = (): void => {}
    const both = new Promise<void>((resolve) => {
      bothBegun = resolve
    })
    const cross = (first: number, second: number) =>
      database.durable(async (executor) => {
        await write(executor, first, `${first} first`)
        begun += 1
        if (begun === 2) bothBegun()
        await both
        await write(executor, second, `after ${first}`)
      })
    await Promise.all([cross(1, 2), cross(2, 1)])
    t.true(meter.total('store_retries_total') >= 1)
    const inSomeOrder = ['after 2,2 first', '1 first,after 1']
    t.true(inSomeOrder.includes((await texts()).join()))
  },
)

mariaDb.test('database/3: a transaction whose connection died runs again', async (t, server) => {
  const { database, meter, texts } = await openNotes(t, server)
  let attempts = 0
  await database.durable(async (executor) => {
    attempts += 1
    await write(executor, 1, `attempt ${attempts}`)
    const mine = await executor.first<{ id: number }>('SELECT CONNECTION_ID() AS id')
    if (attempts === 1) await administer(server, `KILL ${mine?.id ?? 0}`)
    await write(executor, 2, 'done')
  })
  t.is(attempts, 2)
  t.is(meter.total('store_retries_total'), 1)
  t.deepEqual(await texts(), ['attempt 2', 'done'])
})

mariaDb.test('database/3: a transaction is tried a bounded number of times', async (t, server) => {
  const { database, texts } = await openNotes(t, server)
  let attempts = 0
  const job = database.durable(async (executor) => {
    attempts += 1
    await write(executor, 1, SECRET)
    const mine = await executor.first<{ id: number }>('SELECT CONNECTION_ID() AS id')
    await administer(server, `KILL ${mine?.id ?? 0}`)
    await write(executor, 2, SECRET)
  })
  const error = await t.throwsAsync(job, { instanceOf: StoreError })
  t.false(inspect(error, { showHidden: true }).includes(SECRET))
  t.is(attempts, 5)
  t.deepEqual(await texts(), ['a', 'b'])
})

mariaDb.test(
  'mysql/6: statements on their way leave nothing when the server ends the transaction',
  async (t, server) => {
    const { database, texts } = await openNotes(t, server)
    // Said by the job in the place of a server that takes a transaction back.
    const ended = { sql: 'ROLLBACK', rows: 1, values: [] }
    const job = database.durable((executor) =>
      runAll(executor, [ended, rowsFor('notes', [[3, 'c']]), rowsFor('notes', [[1, 'twice']])]),
    )
    await t.throwsAsync(job, { instanceOf: StoreError, code: 'ER_DUP_ENTRY' })
    t.deepEqual(await texts(), ['a', 'b'])

    await database.durable((executor) => write(executor, 1, 'kept'))
    t.deepEqual(await texts(), ['kept', 'b'])
    const mode = await database.read((executor) =>
      executor.first<{ isOn: number }>('SELECT @@autocommit AS isOn'),
    )
    t.is(mode?.isOn, 1)
  },
)

mariaDb.test('connections/2: a statement is timed from the answer before it', async (t, server) => {
  let waiting = 0
  let most = 0
  const runtime: Pick<Runtime, 'after' | 'random' | 'soon'> = {
    soon: realRuntime.soon,
    after: () => {
      waiting += 1
      most = Math.max(most, waiting)
      return () => (waiting -= 1)
    },
    random: (below) => Math.floor(below / 2),
  }
  const { database, texts } = await openNotes(t, server, { runtime })
  const rows = [3, 4, 5, 6, 7].map((id) => rowsFor('notes', [[id, 'x']]))
  await database.durable((executor) => runAll(executor, rows))
  t.is((await texts()).length, 7)
  t.true(most <= 2, 'the time of one begins in the moment in which that before it ends')
})

mariaDb.test('connections/2: nobody waits twice for a server that hangs', async (t, server) => {
  const relay = await Relay.open(t, server.port)
  const { database, meter, texts } = await openNotes(t, server, { port: relay.port })
  relay.freeze()
  relay.cut()
  const job = database.durable((executor) => write(executor, 1, 'x'), { isIdempotent: true })
  await t.throwsAsync(job, { instanceOf: StoreError, code: 'ETIMEDOUT' })
  t.true(meter.total('store_retries_total') <= 1, 'the broken connection alone is replaced')
  t.deepEqual(await texts(), ['a', 'b'])
})

/** Lets a COMMIT through and loses its answer, once. */
function loseAnswer(relay: Relay): void {
  let isLost = false
  relay.watch((bytes) => {
    if (isLost || bytes.subarray(-6).toString() !== 'COMMIT') return 'pass'
    isLost = true
    return 'cut-after'
  })
}

mariaDb.test('database/3: a lost COMMIT repeats only idempotent jobs', async (t, server) => {
  const relay = await Relay.open(t, server.port)
  const { database, texts } = await openNotes(t, server, { port: relay.port })
  let attempts = 0
  const job = (traits: JobTraits) =>
    database.durable(async (executor) => {
      attempts += 1
      await executor.run("UPDATE notes SET text = concat(text, '!') WHERE id = 1")
    }, traits)
  loseAnswer(relay)
  await t.throwsAsync(job({}), { instanceOf: StoreError, code: 'unknown_outcome' })
  t.is(attempts, 1)
  t.deepEqual(await texts(), ['a!', 'b'])

  loseAnswer(relay)
  await job({ isIdempotent: true })
  t.is(attempts, 3)
  t.deepEqual(await texts(), ['a!!!', 'b'])
})

mariaDb.test(
  'turns/1: a turn whose COMMIT was not heard rejects and is in force',
  async (t, server) => {
    const url = await emptyDatabase(t, server)
    const relay = await Relay.open(t, server.port)
    const store = await openNode(t, url.replace(`:${server.port}/`, `:${relay.port}/`))
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('update', 'door')).commit() // It reserves numbers.
    writer.take(thing('update', 'lamp'))
    loseAnswer(relay)
    await t.throwsAsync(writer.commit(), { code: 'unknown_outcome' })
    t.not(await store.read.thing(A, 'lamp'), undefined)
    t.is(await store.turns.takeLane({ lane: 1, epoch: 1 }), 2)
  },
)

mariaDb.test(
  'acknowledgements/2: a position steps over nothing of a turn that commits while it moves',
  async (t, server) => {
    const url = await emptyDatabase(t, server)
    const relay = await Relay.open(t, server.port)
    const actors = await openNode(t, url)
    const ingress = await openNode(t, url.replace(`:${server.port}/`, `:${relay.port}/`))
    const writer = await ChannelWriter.open(actors, 1)
    await actors.devices.create(device(1), 'linux', 1)
    await actors.subscriptions.subscribe(device(1), A, 1)
    await writer.take(message()).commit()

    const held = relay.holdAt((bytes) => bytes.includes('FROM things'))
    const first = { channelId: A, seq: 1 }
    const acknowledged = ingress.subscriptions.acknowledgeEntries(device(1), [first])
    await held
    await writer.take(message(), thing('update', 'lamp')).commit()
    relay.thaw()
    t.is(await acknowledged, 1)
    const { items } = await actors.read.pull(device(1), 9)
    const seqs = items.map(({ seq }) => seq)
    t.deepEqual(seqs, [2, 3])
  },
)

mariaDb.test('W6: every error but one about values counts as an outage', async (t, server) => {
  const { database } = await openNotes(t, server)
  const insert = 'INSERT INTO notes (id, text) VALUES (?, ?)'
  // A job that fails, and whether the database as it is now is to blame.
  const jobs: readonly [isBlamed: boolean, job: (executor: Executor) => Promise<unknown>][] = [
    ...[
      [[1, 'a']],
      [[3, null]],
      [[3, 'a'.repeat(100)]],
      [
        [3, 'a'],
        [1, 'a'],
      ],
      [
        [3, 'a'],
        [4, null],
      ],
      [
        [3, 'a'],
        [4, 'a'.repeat(100)],
      ],
    ].map((rows): [boolean, (executor: Executor) => Promise<unknown>] => [
      false,
      (executor) => executor.make(rowsFor('notes (id, text)', rows))(),
    ]),
    [false, (executor) => executor.run(insert, ['three', 'a'])],
    [false, (executor) => executor.run('INSERT INTO notes (id, text) VALUES (1e30, 1)')],
    [false, () => Promise.reject(new TypeError('a defect of the job'))],
    [true, (executor) => executor.run('DELETE FROM nowhere')],
    [true, (executor) => executor.run("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114")],
    [true, (executor) => executor.run("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205")],
    [true, (executor) => executor.run("SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = 1153")],
    [
      true,
      async (executor) => {
        await executor.run('SET SESSION max_statement_time = 0.01')
        await executor.all('SELECT SLEEP(1)')
      },
    ],
  ]
  for (const [isBlamed, job] of jobs) {
    const error = await t.throwsAsync(database.durable(job))
    t.is(isOutage(error), isBlamed, String(error))
  }
})

mariaDb.test('database/2, mysql/3: errors of the store carry no parameter', async (t, server) => {
  const { database } = await openNotes(t, server)
  const jobs: Parameters<typeof database.durable>[0][] = [
    (executor) => executor.run('INSERT INTO notes (id, text) VALUES (1, ?)', [SECRET]),
    ...[
      [[1, SECRET]],
      [[SECRET, 'x']],
      [
        [3, SECRET],
        [1, SECRET],
      ],
      [
        [3, 'x'],
        [SECRET, 'y'],
      ],
    ].map((rows) => (executor: Executor) => executor.make(rowsFor('notes (id, text)', rows))()),
    (executor) => executor.run('INSERT INTO nowhere (a) VALUES (?)', [SECRET]),
    (executor) => executor.run('INSERT INTO notes (id, text) VALUES (?, ?)', [SECRET, 'x']),
    (executor) => executor.run('INSERT INTO notes (id, text) VALUES (3, ?)', [SECRET.repeat(9)]),
    (executor) => executor.run(`SELECT ${SECRET} FROM WHERE`),
    async () => {
      throw new TypeError(`cannot read ${SECRET}`)
    },
  ]
  await database.durable((executor) => executor.run('ALTER TABLE notes ADD UNIQUE KEY (text)'))
  await database.durable((executor) => write(executor, 2, SECRET))
  jobs.push((executor) => executor.run('INSERT INTO notes (id, text) VALUES (4, ?)', [SECRET]))
  for (const job of jobs) {
    const error = await t.throwsAsync(database.durable(job), { instanceOf: StoreError })
    const shown = [inspect(error, { depth: 9, showHidden: true }), error?.stack, String(error)]
    t.false(shown.join('\n').includes(SECRET), error?.message)
  }
})
