import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { SqliteConnection } from '#src/store/sqlite/connection'
import test from 'ava'
import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { openStore } from '#src/store/store'
import { MIGRATIONS } from '#src/store/migrations/migrations'
import { StoreError } from '#src/store/store-error'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'
import { openLogAt } from '#test/support/log-store'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'
import { ChannelWriter, PASSWORD_HASH, newChannel } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'
import { appendTo } from '#test/support/append-to'

test('the folder of a new database is made', async (t) => {
  const path = join(dirname(await databasePath(t)), 'deep', 'down', 'store.db')
  await openStoreAt(t, path)
  t.true(existsSync(path))
})

test('a database may live in memory alone', async (t) => {
  const store = await openStore({
    runtime: realRuntime,
    url: 'sqlite::memory:',
    meter: new FakeMeter(),
  })
  t.teardown(() => store.close())
  await store.channels.create(newChannel(channel(1)))
  t.true(await store.channels.exists(channel(1)))
})

test('an address that is not a SQLite file is refused with the right form', async (t) => {
  for (const url of ['', 'sqlite:', 'postgres://localhost', 'data/heliograph.db']) {
    const opening = openStore({ runtime: realRuntime, url, meter: new FakeMeter() })
    await t.throwsAsync(opening, { message: /sqlite:<path of a file>/ })
  }
})

test('a path that cannot be a database is refused with its place and reason', async (t) => {
  const path = await databasePath(t)
  await writeFile(path, 'this is a letter, not a database. '.repeat(99))
  const rows: [place: string, code: string, sentence: RegExp][] = [
    [path, 'SQLITE_NOTADB', /not a database/],
    [dirname(path), 'SQLITE_CANTOPEN', /heliograph-store/],
    [join(path, 'below', 'store.db'), 'ENOTDIR', /heliograph-store/],
  ]
  for (const [place, code, sentence] of rows) {
    const opening = openStore({
      runtime: realRuntime,
      url: `sqlite:${place}`,
      meter: new FakeMeter(),
    })
    await t.throwsAsync(opening, { instanceOf: StoreError, code, message: sentence })
  }
})

test('written rows are there after reopening, and no migration runs twice', async (t) => {
  const path = await databasePath(t)
  const logger = new FakeLogger()
  const open = () =>
    openStore({ runtime: realRuntime, url: `sqlite:${path}`, meter: new FakeMeter(), logger })
  const first = await open()
  const writer = await ChannelWriter.open(first, 1)
  await writer.take(message(), thing('update', 'lamp')).commit()
  await first.close()

  const second = await open()
  t.teardown(() => second.close())
  t.deepEqual((await second.read.history({ channelId: channel(1), limit: 9 })).items, writer.feed)
  t.deepEqual(
    logger.lines.map(({ fields }) => fields),
    [
      { engine: 'sqlite', migrations: MIGRATIONS.length },
      { engine: 'sqlite', migrations: 0 },
    ],
  )
})

test('a log keeps its identity and its positions when it is opened again', async (t) => {
  const url = `sqlite:${await databasePath(t)}`
  const first = await openLogAt(t, url)
  const [position = 0] = await appendTo(first.table, [{ lane: 0, count: 1, payload: '[]' }])
  const identity = await first.table.identity()
  await appendTo(first.table, [{ lane: 0, count: 1, payload: '[]' }], { nowMs: 3 })
  await first.table.purge(0, position, 2, 9)
  await first.close()

  const second = await openLogAt(t, url)
  t.is(await second.table.identity(), identity)
  t.is((await second.table.bounds(0)).last, position + 1)
  const [next = 0] = await appendTo(second.table, [{ lane: 1, count: 1, payload: '[]' }])
  t.true(next > position + 1)
})

test('a database that a newer version has changed is refused', async (t) => {
  const path = await databasePath(t)
  await (
    await openStore({ runtime: realRuntime, url: `sqlite:${path}`, meter: new FakeMeter() })
  ).close()
  const connection = new SqliteConnection(path)
  connection.exec("INSERT INTO migrations (timestamp, name) VALUES (1, 'Later9000000000000')")
  connection.close()

  const opening = openStore({ runtime: realRuntime, url: `sqlite:${path}`, meter: new FakeMeter() })
  await t.throwsAsync(opening, { instanceOf: StoreError, message: /newer version.*Later9000/ })
})

test('the migrations make the tables that the entities describe', async (t) => {
  const path = await databasePath(t)
  const source = await new DataSource(dataSourceOptionsFor(`sqlite:${path}`)).initialize()
  t.teardown(() => source.destroy())
  await source.runMigrations()
  const { upQueries } = await source.driver.createSchemaBuilder().log()
  t.deepEqual(
    upQueries.map(({ query }) => query),
    [],
  )
  for (const _ of source.migrations) await source.undoLastMigration()
  const tables: { readonly name: string }[] = await source.query(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  t.deepEqual(
    tables.map(({ name }) => name),
    ['migrations'],
  )
})

test('the probe names the durability, and reports a missing database', async (t) => {
  const store = await openStoreAt(t, await databasePath(t))
  t.like(await store.probe.readiness(), { name: 'database', ready: true })
  t.regex((await store.probe.readiness()).detail, /fsync/)
  await store.close()
  t.deepEqual(await store.probe.readiness(), { name: 'database', ready: false, detail: 'closed' })
})

test('a refused statement shows no password hash and no provider token', async (t) => {
  const store = await openStoreAt(t, await databasePath(t))
  await store.channels.create(newChannel(channel(1)))
  const error = await t.throwsAsync(store.channels.create(newChannel(channel(1))))
  t.false(`${error?.stack} ${JSON.stringify(error)}`.includes(PASSWORD_HASH))
})
