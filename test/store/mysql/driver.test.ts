// Goal: the gateway writes whatever the driver is like inside; with a driver that is not as the fast
// way needs it, more slowly and not in silence.
// Method: a real driver and a real server, with one member at a time taken away from the gateway or
// made to behave otherwise.

import type { QueryRunner } from 'typeorm'
import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { runAll } from '#src/store/statements/bulk'
import { ANSWER_MS_MAX } from '#src/store/jobs/connections'
import { Database } from '#src/store/jobs/database'
import { dialectOf } from '#src/store/dialects'
import { UNDOCUMENTED } from '#src/store/mysql/wire/driver'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { emptyDatabase, newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { rowsFor } from '#test/support/mysql-notes'
import { realRuntime } from '#test/support/real-runtime'
import type { Runtime } from '#domain/runtime'
import type { MariaDbServer } from '#src/dev/servers/mariadb'
import type { ExecutionContext } from 'ava'

const mariaDb = sharedMariaDb()

/** Members in place of an object's own, by name. */
type Changed = Readonly<Record<string, unknown>>

/** Members that replace those of the driver's objects before the gateway sees them. */
interface Otherwise {
  readonly connection?: Changed
  readonly command?: Changed
  readonly incoming?: Changed
  readonly statement?: Changed
}

/** The object as it is, but for some members. */
function seen<Target extends object>(target: Target, changed: Changed = {}): Target {
  return new Proxy(target, {
    get: (_, name) => {
      if (typeof name === 'string' && name in changed) return changed[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    set: (_, name, value) => Reflect.set(target, name, value, target),
  })
}

interface Inside {
  addCommand(command: object): unknown
  prepare(sql: string, answer: (error: unknown, statement: object) => void): unknown
}

/** A connection of the driver as the gateway sees it. */
function connectionSeen<Target extends object>(target: Target & Inside, otherwise: Otherwise) {
  const { connection, command, incoming, statement } = otherwise
  const near: object = seen(target, {
    addCommand: (own: { execute: (packet: unknown, on: unknown) => unknown }) =>
      target.addCommand(
        seen(own, {
          execute: (packet: object | undefined) =>
            own.execute(packet === undefined ? packet : seen(packet, incoming), near),
          ...command,
        }),
      ),
    prepare: (sql: string, answer: (error: unknown, of: object) => void) =>
      target.prepare(sql, (error, of) => answer(error, error === null ? seen(of, statement) : of)),
    ...connection,
  })
  return near
}

/** A source whose connections the gateway sees so. */
function sourceSeen(source: DataSource, otherwise: Otherwise): DataSource {
  const known = new WeakMap<object, object>()
  const near = (connection: object & Inside): object => {
    const found = known.get(connection) ?? connectionSeen(connection, otherwise)
    known.set(connection, found)
    return found
  }
  return seen(source, {
    createQueryRunner: (): QueryRunner => {
      const runner = source.createQueryRunner()
      return seen(runner, { connect: async () => near((await runner.connect()) as Inside) })
    },
  })
}

/** Time in which an answer may be given up by hand. */
function givingUp() {
  const waiting = new Set<() => void>()
  let isOver = false
  const after: Runtime['after'] = (delayMs, callback) => {
    if (delayMs !== ANSWER_MS_MAX) return realRuntime.after(delayMs, callback)
    waiting.add(callback)
    return () => void waiting.delete(callback)
  }
  /** Their time is over, once: when what is asked for now is waited for as well. */
  const giveUp = (): undefined => {
    if (!isOver) setImmediate(() => waiting.forEach((callback) => callback()))
    isOver = true
    return undefined
  }
  return { runtime: { ...realRuntime, after }, giveUp }
}

type Making = (silently: () => undefined) => Otherwise

async function openSeen(t: ExecutionContext, server: MariaDbServer, making: Making) {
  const { runtime, giveUp } = givingUp()
  const otherwise = making(giveUp)
  const url = await emptyDatabase(t, server)
  await openNode(t, url)
  const meter = new FakeMeter()
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  const near = sourceSeen(source, otherwise)
  const database = new Database(near, dialectOf('mysql'), meter, runtime)
  t.teardown(() => database.close())
  return { database, meter }
}

const FALLBACK = 'the driver of the database is not as expected; statements wait for each other'

const VALUES = [
  [1, "it's", 2 ** 40],
  [2, '', null],
  [3, '🔥', -1],
]

/** Writes rows in several statements under way at once, and reads them. */
async function writesAndReads(t: ExecutionContext, database: Database): Promise<void> {
  await database.durable((executor) =>
    executor.run(
      'CREATE TABLE notes (id bigint PRIMARY KEY, text varchar(99), number bigint) CHARACTER SET utf8mb4',
    ),
  )
  const rows = VALUES.map((row) => rowsFor('notes', [row]))
  const isDone = await database.durable((executor) =>
    runAll(
      executor,
      rows.map((row) => ({ ...row, mustChange: 1 })),
    ),
  )
  t.true(isDone)
  const read = await database.read((executor) =>
    executor.all<Record<string, unknown>>('SELECT id, text, number FROM notes ORDER BY id'),
  )
  t.deepEqual(
    read.map((row) => Object.values(row)),
    VALUES,
  )
  await database.durable((executor) => executor.run('DROP TABLE notes'))
}

const missing = (names: object): readonly Changed[] =>
  Object.keys(names).map((name) => ({ [name]: undefined }))

const OTHERWISE: readonly (readonly [what: string, otherwise: Otherwise | Making])[] = [
  ...missing(UNDOCUMENTED.connection).map(
    (connection) => [`no ${Object.keys(connection).join()}`, { connection }] as const,
  ),
  ...missing(UNDOCUMENTED.incoming).map(
    (incoming) => [`no ${Object.keys(incoming).join()} of packets`, { incoming }] as const,
  ),
  ...missing(UNDOCUMENTED.statement).map(
    (statement) => ['no id of statements', { statement }] as const,
  ),
  ['commands that are never begun', (silently) => ({ connection: { addCommand: silently } })],
  ['commands that are called otherwise', (silently) => ({ command: { execute: silently } })],
  ['packets that are not sent', (silently) => ({ connection: { writePacket: silently } })],
  [
    'packets that are sent otherwise',
    {
      connection: {
        writePacket: () => {
          throw new TypeError('packet.toBuffer is not a function')
        },
      },
    },
  ],
  ['another id of statements', { statement: { id: 0x7fffffff } }],
  ['errors where there is none', { incoming: { isError: () => true } }],
  ['changes that are counted otherwise', { incoming: { readLengthCodedNumber: () => 7 } }],
  ['ids that are told otherwise', { incoming: { readLengthCodedNumberSigned: () => -7 } }],
]

for (const [what, otherwise] of OTHERWISE) {
  mariaDb.test(
    `connections/4, pipelined/4: the driver sends by itself with ${what}`,
    async (t, server) => {
      const { database, meter } = await openSeen(
        t,
        server,
        typeof otherwise === 'function' ? otherwise : () => otherwise,
      )
      const logger = new FakeLogger()
      await database.check(logger)
      t.like(logger.lines, [{ level: 'warn', fact: FALLBACK }])
      t.is(meter.gauges.get('store_driver_fallback')?.(), 1)
      await writesAndReads(t, database)
    },
  )
}

mariaDb.test('the gateway sends by itself with the expected driver', async (t, server) => {
  const { database, meter } = await openSeen(t, server, () => ({}))
  const logger = new FakeLogger()
  await database.check(logger)
  t.deepEqual(logger.lines, [])
  t.is(meter.gauges.get('store_driver_fallback')?.(), 0)
  await writesAndReads(t, database)
  const left = await database.read((executor) => executor.all('SELECT id FROM dead_letters'))
  t.deepEqual(left, [], 'nothing of the trial stays')
})

mariaDb.test(
  'connections/4: a refusal of the database either way is reported, and not blamed on the driver',
  async (t, server) => {
    const url = await newDatabase(server) // Without tables.
    const meter = new FakeMeter()
    const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
    const database = new Database(source, dialectOf('mysql'), meter, realRuntime)
    t.teardown(() => database.close())
    const logger = new FakeLogger()
    await t.throwsAsync(database.check(logger), { message: /dead_letters/ })
    t.deepEqual(logger.lines, [])
    t.is(meter.gauges.get('store_driver_fallback')?.(), 0)
  },
)
