// Several processes on one MySQL database.

import { connect, createServer } from 'node:net'
import { inspect } from 'node:util'

import { DataSource } from 'typeorm'
import type { DataSourceOptions } from 'typeorm'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import { parseMessageId } from '#domain/identity'
import type { EntityId } from '#domain/identity'
import { dataSourceOptionsFor } from '#ormconfig'
import { reservePort } from '#src/dev/servers/port'
import { openStore } from '#src/store/store'
import { device } from '#test/contracts/store-channels'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { until } from '#test/support/gateway'
import {
  administer,
  emptyDatabase,
  newDatabase,
  openNode,
  sharedMariaDb,
} from '#test/support/mariadb'
import { realRuntime } from '#test/support/real-runtime'
import { ChannelWriter, newChannel } from '#test/support/store-writer'
import { channel, message, opId, thing } from '#test/support/submissions'

const mariaDb = sharedMariaDb()
const A = channel(1)
const SECRET = 'hunter2-secret'

function messageId(number: number): EntityId {
  const id = parseMessageId(number.toString(16).padStart(32, '0'))
  if (id === undefined) throw new Error('not a message id')
  return id
}

mariaDb.test('operations/1: one of the claims on two nodes at once is fresh', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const nodes = [await openNode(t, url), await openNode(t, url)]
  const claims = nodes.flatMap((node, nodeNumber) =>
    Array.from({ length: 200 }, async (_, index) => {
      const number = nodeNumber === 0 ? index : 199 - index
      const claim = {
        opId: opId(`order-${number}`),
        channelId: A,
        thingId: '',
        contentHash: 'a'.repeat(64),
        messageId: messageId(nodeNumber * 1_000 + index),
        claimedAt: 1_000,
      }
      return { number, claim, outcome: await node.operations.claim(claim, 0) }
    }),
  )
  const all = await Promise.all(claims)
  for (let number = 0; number < 200; number += 1) {
    const both = all.filter((one) => one.number === number)
    const fresh = both.find(({ outcome }) => outcome.kind === 'fresh')
    const repeat = both.find(({ outcome }) => outcome.kind === 'repeat')
    t.deepEqual(repeat?.outcome, { kind: 'repeat', first: fresh?.claim, applied: false } as unknown)
  }
})

mariaDb.test('subscriptions/1: two nodes together keep to the limit', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const nodes = [await openNode(t, url), await openNode(t, url)] as const
  await nodes[0].channels.create(newChannel(A))
  const numbers = Array.from({ length: 2 * SUBSCRIBERS_MAX + 2 }, (_, index) => index + 1)
  await Promise.all(numbers.map((number) => nodes[0].devices.create(device(number), 'linux', 1)))
  const answers = await Promise.all(
    numbers.map((number) =>
      nodes[number % 2 === 0 ? 0 : 1].subscriptions.subscribe(device(number), A, 1),
    ),
  )
  const subscribed = answers.filter(({ kind }) => kind === 'subscribed')
  t.is(subscribed.length, SUBSCRIBERS_MAX)
  t.is(answers.filter(({ kind }) => kind === 'full').length, SUBSCRIBERS_MAX + 2)
  t.is((await nodes[1].channels.info(A))?.subscribers, SUBSCRIBERS_MAX)
})

mariaDb.test('W2: when owners take a lane at once, the latest epoch stays', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const nodes = [await openNode(t, url), await openNode(t, url)] as const
  const epochs = Array.from({ length: 20 }, (_, index) => index + 1)
  for (let lane = 1; lane <= 5; lane += 1) {
    await Promise.all(
      epochs.map((epoch) => nodes[epoch % 2 === 0 ? 0 : 1].turns.takeLane({ lane, epoch })),
    )
    t.is(await nodes[0].turns.takeLane({ lane, epoch: 19 }), 'fenced')
    t.is(await nodes[0].turns.takeLane({ lane, epoch: 20 }), 0)
  }
})

mariaDb.test('W2: a commit during a takeover is kept whole or not at all', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const [old, next] = [await openNode(t, url), await openNode(t, url)]
  for (let number = 1; number <= 12; number += 1) {
    const writer = await ChannelWriter.open(old, number)
    writer.take(thing('update', 'lamp'))
    const [committed, taken] = await Promise.all([
      writer.commit(),
      next.turns.takeLane({ lane: number, epoch: 2 }),
    ])
    const isThere = (await next.read.thing(writer.channelId, 'lamp')) !== undefined
    t.is(committed.kind, isThere ? 'committed' : 'fenced')
    t.is(taken, isThere ? 1 : 0)
    t.deepEqual(await writer.take(message()).commit(), { kind: 'fenced', lanes: [number] })
  }
})

mariaDb.test('migrate/1: four processes at once make the tables once', async (t, server) => {
  const url = await newDatabase(server)
  const logger = new FakeLogger()
  const opening = Array.from({ length: 4 }, () =>
    openStore({ runtime: realRuntime, url, meter: new FakeMeter(), logger }),
  )
  for (const store of await Promise.all(opening)) await store.close()
  const counts = logger.lines.map(({ fields }) => fields['migrations'])
  t.is(counts.filter((count) => count !== 0).length, 1)
  t.is(counts.filter((count) => count === 0).length, 3)
})

mariaDb.test('migrate/2: a migration that was interrupted is done again', async (t, server) => {
  const url = await newDatabase(server)
  await (await openStore({ runtime: realRuntime, url, meter: new FakeMeter() })).close()
  const name = new URL(url).pathname.slice(1)
  await administer(server, `DELETE FROM ${name}.migrations`, `DROP TABLE ${name}.claims`)
  const store = await openNode(t, url)
  await t.notThrowsAsync(ChannelWriter.open(store, 1))
})

mariaDb.test('migrate/3: a database that a newer version changed is refused', async (t, server) => {
  const url = await newDatabase(server)
  await (await openStore({ runtime: realRuntime, url, meter: new FakeMeter() })).close()
  const name = new URL(url).pathname.slice(1)
  await administer(
    server,
    `INSERT INTO ${name}.migrations (timestamp, name) VALUES (1, 'Later9000000000000')`,
  )
  const opening = openStore({ runtime: realRuntime, url, meter: new FakeMeter() })
  await t.throwsAsync(opening, { code: 'newer_database', message: /newer version.*Later9000/ })
})

mariaDb.test('the migrations make the tables that the entities describe', async (t, server) => {
  const url = await newDatabase(server)
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  t.teardown(() => source.destroy())
  await source.runMigrations()
  await source.undoLastMigration()
  await source.runMigrations()
  // TypeORM asks a table of its own about columns that the server computes.
  for (const table of ['things', 'events']) {
    await source.query(`ALTER TABLE ${table} DROP COLUMN seq_block`)
  }
  // The server is a MariaDB, which TypeORM must know to read its defaults.
  const described = new DataSource({
    ...dataSourceOptionsFor(url),
    type: 'mariadb',
  } as DataSourceOptions)
  await described.initialize()
  t.teardown(() => described.destroy())
  const { upQueries } = await described.driver.createSchemaBuilder().log()
  t.deepEqual(
    upQueries.map(({ query }) => query),
    [],
  )
  for (const _ of source.migrations) await source.undoLastMigration()
  const tables: unknown = await source.query('SHOW TABLES')
  t.is(Array.isArray(tables) ? tables.length : 0, 1)
})

mariaDb.test('the reason why a store does not open holds no password', async (t, server) => {
  await administer(server, `CREATE USER guest IDENTIFIED BY '${SECRET}'`)
  const rows: [url: string, sentence: RegExp][] = [
    [`mysql://guest:${SECRET}-wrong@127.0.0.1:${server.port}/x`, /Access denied/],
    [`mysql://root:${SECRET}@127.0.0.1:1/x`, /ECONNREFUSED at 127\.0\.0\.1:1/],
    [`mysql://root@127.0.0.1:${server.port}/nowhere`, /Unknown database/],
    [`mysql://root:${SECRET}@:3306/x`, /must be sqlite:.* or mysql:/],
    [`mysql://root:${SECRET}@127.0.0.1:99999/x`, /must be sqlite:/],
    [`mysql://root:${SECRET}@127.0.0.1/`, /must be sqlite:/],
    [`mysql://root:${SECRET}%@127.0.0.1/x`, /must be sqlite:/],
    [`mysql://root@127.0.0.1/x?password=${SECRET}`, /must be sqlite:/],
  ]
  for (const [url, sentence] of rows) {
    const logger = new FakeLogger()
    const opening = openStore({
      runtime: realRuntime,
      url,
      meter: new FakeMeter(),
      logger,
      firstAnswerMsMax: 100,
    })
    const error = await t.throwsAsync(opening, { message: sentence })
    // Only who is away is asked again.
    if (!sentence.source.includes('ECONNREFUSED')) t.deepEqual(logger.lines, [], error?.message)
    t.notRegex(JSON.stringify(logger.lines), new RegExp(SECRET))
    t.false(inspect(error, { depth: 9, showHidden: true }).includes(SECRET), error?.message)
  }
})

mariaDb.test('the start waits for a database that comes later', async (t, server) => {
  const { port, release } = await reservePort()
  t.teardown(release)
  const url = (await newDatabase(server)).replace(`:${server.port}/`, `:${port}/`)
  const logger = new FakeLogger()
  const opening = openStore({ runtime: realRuntime, url, meter: new FakeMeter(), logger })
  await until(
    () => Promise.resolve(logger.lines),
    (lines) => lines.length > 0,
  )
  const door = createServer((near) => near.pipe(connect(server.port, '127.0.0.1')).pipe(near))
  door.listen(port, '127.0.0.1')
  t.teardown(() => door.close())
  const store = await opening
  t.true((await store.probe.readiness()).ready)
  await store.close()
  t.regex(JSON.stringify(logger.lines[0]), /does not answer; trying again.*ECONNREFUSED/)
})

mariaDb.test(
  'mysql/4: the text that is kept does not depend on the server’s modes',
  async (t, server) => {
    t.teardown(() => administer(server, 'SET GLOBAL sql_mode = DEFAULT'))
    await administer(server, "SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'")
    const store = await openNode(t, await emptyDatabase(t, server))
    await store.channels.create(newChannel(A))
    const name = `a'b\\c"d🔥 \\' OR 1=1 -- `
    await store.channels.rename(A, name)
    t.is((await store.channels.credentials(A))?.channelName, name)
  },
)

mariaDb.test('documents that fill many packets are kept as written', async (t, server) => {
  const store = await openNode(t, await emptyDatabase(t, server))
  const writer = await ChannelWriter.open(store, 1)
  const ids = Array.from({ length: 130 }, (_, index) => `thing-${index}`)
  for (const id of ids) writer.take(thing('update', id))
  const writes = writer.writes()
  const text = `{"b": 1, "a": [1.0, "ü\\u0000"]} `.repeat(6_000)
  const channels = writes.channels.map((one) => ({
    ...one,
    things: one.things.map((kept) => ({ ...kept, attrs: { values: { text }, times: undefined } })),
  }))
  t.deepEqual(await store.turns.commit({ ...writes, channels }), { kind: 'committed' })
  for (const id of ids) {
    t.true((await store.read.thing(A, id))?.attrs.values['text'] === text, id)
  }
})
