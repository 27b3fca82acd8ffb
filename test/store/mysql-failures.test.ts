// What the network and other transactions do to a job on MySQL.

import { inspect } from 'node:util'

import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import { isOutage } from '#domain/store-ports'
import { dataSourceOptionsFor } from '#ormconfig'
import type { MariaDbServer } from '#src/servers/mariadb'
import { ANSWER_MS_MAX } from '#src/store/connections'
import { Database } from '#src/store/database'
import type { JobTraits } from '#src/store/database'
import { dialectOf } from '#src/store/dialect'
import { JOBS_WAITING_MAX } from '#src/store/gate'
import { machinePacing } from '#src/store/pacing'
import type { Pacing } from '#src/store/pacing'
import type { Session } from '#src/store/session'
import { StoreBusy, StoreError } from '#src/store/store-error'
import { device } from '#test/contracts/store-channels'
import { FakeMeter } from '#test/support/fake-telemetry'
import { administer, newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { Relay } from '#test/support/relay'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'

const mariaDb = sharedMariaDb()
const A = channel(1)
const SECRET = 'hunter2-secret'

interface NotesOptions {
  readonly pacing?: Pacing
  /** Where the server is heard; absent: at its own port. */
  readonly port?: number
}

/** A database with one table `notes (id unique, text)`, as two rows. */
async function openNotes(t: ExecutionContext, server: MariaDbServer, options: NotesOptions = {}) {
  const url = await newDatabase(server)
  const meter = new FakeMeter()
  const open = async (at: string): Promise<Database> => {
    const source = await new DataSource(dataSourceOptionsFor(at)).initialize()
    const database = new Database(source, dialectOf('mysql'), meter, options.pacing)
    t.teardown(() => database.close())
    return database
  }
  const direct = await open(url)
  await direct.durable((session) =>
    session.run('CREATE TABLE notes (id bigint PRIMARY KEY, text varchar(99) NOT NULL)'),
  )
  await direct.durable((session) => session.run("INSERT INTO notes VALUES (1, 'a'), (2, 'b')"))
  const texts = (): Promise<readonly string[]> =>
    direct.read(async (session) =>
      (await session.all<{ text: string }>('SELECT text FROM notes ORDER BY id')).map(
        ({ text }) => text,
      ),
    )
  const relayed = url.replace(`:${server.port}/`, `:${options.port ?? server.port}/`)
  return { database: await open(relayed), meter, texts }
}

/** While it is on, an answer is waited for a moment only; a busy machine may take longer. */
function impatience() {
  const own = { isOn: false }
  const pacing: Pacing = {
    ...machinePacing,
    after: (delayMs, callback) =>
      machinePacing.after(own.isOn && delayMs === ANSWER_MS_MAX ? 300 : delayMs, callback),
  }
  return { own, pacing }
}

const write = (session: Session, id: number, text: string) =>
  session.run('UPDATE notes SET text = ? WHERE id = ?', [text, id])

mariaDb.test(
  'G4: transactions that block each other are both done in the end',
  async (t, server) => {
    const { database, meter, texts } = await openNotes(t, server)
    let begun = 0
    let bothBegun = (): void => {}
    const both = new Promise<void>((resolve) => {
      bothBegun = resolve
    })
    const cross = (first: number, second: number) =>
      database.durable(async (session) => {
        await write(session, first, `${first} first`)
        begun += 1
        if (begun === 2) bothBegun()
        await both
        await write(session, second, `after ${first}`)
      })
    await Promise.all([cross(1, 2), cross(2, 1)])
    t.true(meter.total('store_retries_total') >= 1)
    const inSomeOrder = ['after 2,2 first', '1 first,after 1']
    t.true(inSomeOrder.includes((await texts()).join()))
  },
)

mariaDb.test('G4: a transaction whose connection is killed is done again', async (t, server) => {
  const { database, meter, texts } = await openNotes(t, server)
  let attempts = 0
  await database.durable(async (session) => {
    attempts += 1
    await write(session, 1, `attempt ${attempts}`)
    const mine = await session.first<{ id: number }>('SELECT CONNECTION_ID() AS id')
    if (attempts === 1) await administer(server, `KILL ${mine?.id ?? 0}`)
    await write(session, 2, 'done')
  })
  t.is(attempts, 2)
  t.is(meter.total('store_retries_total'), 1)
  t.deepEqual(await texts(), ['attempt 2', 'done'])
})

mariaDb.test('G4: attempts have an end', async (t, server) => {
  const { database, texts } = await openNotes(t, server)
  let attempts = 0
  const job = database.durable(async (session) => {
    attempts += 1
    await write(session, 1, SECRET)
    const mine = await session.first<{ id: number }>('SELECT CONNECTION_ID() AS id')
    await administer(server, `KILL ${mine?.id ?? 0}`)
    await write(session, 2, SECRET)
  })
  const error = await t.throwsAsync(job, { instanceOf: StoreError })
  t.false(inspect(error, { showHidden: true }).includes(SECRET))
  t.is(attempts, 5)
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

mariaDb.test('G4: after a lost COMMIT only what is idempotent is done again', async (t, server) => {
  const relay = await Relay.open(t, server.port)
  const { database, texts } = await openNotes(t, server, { port: relay.port })
  let attempts = 0
  const job = (traits: JobTraits) =>
    database.durable(async (session) => {
      attempts += 1
      await session.run("UPDATE notes SET text = concat(text, '!') WHERE id = 1")
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

mariaDb.test('a turn whose COMMIT was not heard rejects and is in force', async (t, server) => {
  const url = await newDatabase(server)
  const relay = await Relay.open(t, server.port)
  const store = await openNode(t, url.replace(`:${server.port}/`, `:${relay.port}/`))
  const writer = await ChannelWriter.open(store, 1)
  writer.take(thing('update', 'lamp'))
  loseAnswer(relay)
  await t.throwsAsync(writer.commit(), { code: 'unknown_outcome' })
  t.not(await store.read.thing(A, 'lamp'), undefined)
  t.is(await store.turns.takeLane({ lane: 1, epoch: 1 }), 1)
})

mariaDb.test(
  'K2: a position steps over nothing of a turn that commits while it moves',
  async (t, server) => {
    const url = await newDatabase(server)
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

mariaDb.test('L2: a server that says nothing is given up, and found again', async (t, server) => {
  const relay = await Relay.open(t, server.port)
  const { own, pacing } = impatience()
  const { database, texts } = await openNotes(t, server, { port: relay.port, pacing })
  await database.read((session) => session.all('SELECT 1'))
  relay.freeze()
  own.isOn = true
  const job = database.durable((session) => write(session, 1, 'c'))
  await t.throwsAsync(job, { instanceOf: StoreError, code: 'no_answer' })
  relay.thaw()
  own.isOn = false
  await database.durable((session) => write(session, 1, 'd'))
  t.deepEqual(await texts(), ['d', 'b'])
})

mariaDb.test('L3: connections that come too late do not use the pool up', async (t, server) => {
  const relay = await Relay.open(t, server.port)
  const { own, pacing } = impatience()
  const { database } = await openNotes(t, server, { port: relay.port, pacing })
  const ask = () => database.read((session) => session.all('SELECT 1'))
  relay.freeze()
  own.isOn = true
  await t.throwsAsync(ask(), { instanceOf: StoreError, code: 'no_answer' })
  // Each login is held back once; asked about again when the relay is thawed, it passes.
  let asked = 0
  relay.watch((bytes) => {
    if (!bytes.includes('_client_name')) return 'pass'
    asked += 1
    return asked % 2 === 0 ? 'pass' : 'hold'
  })
  for (let late = 0; late < 2 * dialectOf('mysql').connections; late += 1) {
    relay.thaw()
    await ask().catch((error: unknown) => t.true(error instanceof StoreError))
  }
  relay.thaw()
  own.isOn = false
  await t.notThrowsAsync(ask())
  t.true(asked > 0)
})

mariaDb.test('G2: while the database is slow what waits is bounded', async (t, server) => {
  const { database, meter } = await openNotes(t, server)
  const places = dialectOf('mysql').connections
  const slow = Array.from({ length: places }, () =>
    database.read((session) => session.all('SELECT SLEEP(0.5)')),
  )
  const order: string[] = []
  const waiting = Array.from({ length: JOBS_WAITING_MAX - 1 }, () =>
    database.read(async () => void order.push('other')),
  )
  waiting.push(database.read(async () => void order.push('urgent'), { isUrgent: true }))
  t.is(meter.gauges.get('store_queue')?.(), JOBS_WAITING_MAX)
  await t.throwsAsync(
    database.read(async () => {}),
    { instanceOf: StoreBusy },
  )
  await Promise.all([...slow, ...waiting])
  t.true(order.indexOf('urgent') < places)
  t.is(meter.gauges.get('store_queue')?.(), 0)
})

mariaDb.test('W6: only what the server says of values is no outage', async (t, server) => {
  const { database } = await openNotes(t, server)
  const insert = 'INSERT INTO notes (id, text) VALUES (?, ?)'
  // A job that fails, and whether the database as it is now is to blame.
  const jobs: readonly [isBlamed: boolean, job: (session: Session) => Promise<unknown>][] = [
    [false, (session) => session.insert(insert, [1, 'a'])],
    [false, (session) => session.insert(insert, [3, null])],
    [false, (session) => session.insert(insert, [3, 'a'.repeat(100)])],
    [false, (session) => session.run(insert, ['three', 'a'])],
    [false, (session) => session.run('INSERT INTO notes (id, text) VALUES (1e30, 1)')],
    [false, () => Promise.reject(new TypeError('a defect of the job'))],
    [true, (session) => session.run('DELETE FROM nowhere')],
    [true, (session) => session.run("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114")],
    [true, (session) => session.run("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205")],
    [true, (session) => session.run("SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = 1153")],
    [
      true,
      async (session) => {
        await session.run('SET SESSION max_statement_time = 0.01')
        await session.all('SELECT SLEEP(1)')
      },
    ],
  ]
  for (const [isBlamed, job] of jobs) {
    const error = await t.throwsAsync(database.durable(job))
    t.is(isOutage(error), isBlamed, String(error))
  }
})

mariaDb.test('G3: no error of the store carries what was a parameter', async (t, server) => {
  const { database } = await openNotes(t, server)
  const jobs: Parameters<typeof database.durable>[0][] = [
    (session) => session.run('INSERT INTO notes (id, text) VALUES (1, ?)', [SECRET]),
    (session) => session.insert('INSERT INTO notes (id, text) VALUES (?, ?)', [1, SECRET]),
    (session) => session.run('INSERT INTO nowhere (a) VALUES (?)', [SECRET]),
    (session) => session.run('INSERT INTO notes (id, text) VALUES (?, ?)', [SECRET, 'x']),
    (session) => session.insert('INSERT INTO notes (id, text) VALUES (?, ?)', [SECRET, 'x']),
    (session) => session.run('INSERT INTO notes (id, text) VALUES (3, ?)', [SECRET.repeat(9)]),
    (session) => session.run(`SELECT ${SECRET} FROM WHERE`),
    async () => {
      throw new TypeError(`cannot read ${SECRET}`)
    },
  ]
  await database.durable((session) => session.run('ALTER TABLE notes ADD UNIQUE KEY (text)'))
  await database.durable((session) => write(session, 2, SECRET))
  jobs.push((session) => session.run('INSERT INTO notes (id, text) VALUES (4, ?)', [SECRET]))
  for (const job of jobs) {
    const error = await t.throwsAsync(database.durable(job), { instanceOf: StoreError })
    const shown = [inspect(error, { depth: 9, showHidden: true }), error?.stack, String(error)]
    t.false(shown.join('\n').includes(SECRET), error?.message)
  }
})
