// Goal: a database of the version before 1.0 becomes one of this version, with everything in it.
// Method: that version's own tables and rows, and a process that kills itself at one statement
// after the other.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { parseChannelId } from '#domain/identity'
import { MIGRATIONS } from '#src/store/migrations/migrations'
import { takeUpdates } from '#src/store/migrations/take-over-updates'
import { openStore } from '#src/store/store'
import type { Store } from '#src/store/store'
import { TEST_MS } from '#test/support/bounds'
import { rowsOf, schemaOf, updatesOf } from '#test/support/database-rows'
import { makeFormer, onDatabase } from '#test/support/former-database'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { joinAll } from '#test/support/joined'
import { newDatabase, sharedMariaDb } from '#test/support/mariadb'
import { script } from '#test/support/program'
import { realRuntime } from '#test/support/real-runtime'
import { databasePath } from '#test/support/sqlite-store'
import { channel, opId } from '#test/support/submissions'
import { expects } from '#test/support/taken-over'

const mariaDb = sharedMariaDb()
const run = promisify(execFile)

/** The second channel. */
const SECOND = parseChannelId('KPGDYS9RARVT2F043072Z7XP1G') ?? channel(2)

/** Declares a test for each engine; it gets the address of an empty database. */
function onEach(title: string, job: (t: ExecutionContext, url: string) => Promise<void>): void {
  test(`sqlite: ${title}`, async (t) => {
    await job(t, `sqlite:${await databasePath(t)}`)
  })
  mariaDb.test(`mysql: ${title}`, async (t, server) => {
    await job(t, await newDatabase(server))
  })
}

async function opened(t: ExecutionContext, url: string): Promise<[Store, FakeLogger]> {
  const logger = new FakeLogger()
  const store = await openStore({ runtime: realRuntime, url, meter: new FakeMeter(), logger })
  t.teardown(() => store.close())
  return [store, logger]
}

onEach('a database of the version before gets the tables of a new one, once', async (t, url) => {
  await makeFormer(url)
  const before = await onDatabase(url, rowsOf)
  const [store, first] = await opened(t, url)
  await store.close()
  const [again, second] = await opened(t, url)
  await again.close()
  const counts = [first, second].map(({ lines }) => lines[0]?.fields['migrations'])
  t.deepEqual(counts, [MIGRATIONS.length, 0])
  expects(t, before, await onDatabase(url, rowsOf))
  const taken = await onDatabase(url, schemaOf)
  await onDatabase(url, async (source) => {
    for (const name of Object.keys(await rowsOf(source))) await source.query(`DROP TABLE ${name}`)
  })
  const [fresh] = await opened(t, url)
  await fresh.close()
  t.deepEqual(taken, await onDatabase(url, schemaOf))
})

/** In the order of the take-over, which MySQL commits as it goes. */
const CHANGES = [
  'ALTER TABLE thing_updates',
  'CREATE INDEX',
  'INSERT INTO gateway_meta',
  'DROP TABLE former_thing_updates',
  'UPDATE channel_keys',
  'ALTER TABLE channel_keys',
  'UPDATE bindings',
  'UPDATE channels SET password_hash',
  'UPDATE things',
  'INSERT INTO .*migrations',
  'DELETE FROM migrations',
]

const KILLED: readonly (readonly [when: string, statements: readonly string[]])[] = [
  ['before one change after the other', CHANGES],
  // With no kill before, a change of a table has ended the transaction of the step in MySQL.
  ['within a move of updates', ['DELETE FROM former_thing_updates']],
]

for (const [when, statements] of KILLED) {
  onEach(`take-over/1: kill -9 ${when} loses nothing`, async (t, url) => {
    t.timeout(TEST_MS)
    await makeFormer(url)
    const before = await onDatabase(url, rowsOf)
    const isSqlite = url.startsWith('sqlite:')
    for (const statement of statements) {
      const words = [...script('dying-take-over'), url, statement]
      const error = await t.throwsAsync(run(process.execPath, words), undefined, statement)
      t.like(error, { signal: 'SIGKILL' }, `${statement}: ${String(error)}`)
      // SQLite undoes all of it, before it is recorded.
      if (isSqlite && statement !== CHANGES.at(-1))
        t.deepEqual(await onDatabase(url, rowsOf), before, statement)
    }
    await (await opened(t, url))[0].close()
    expects(t, before, await onDatabase(url, rowsOf))
  })
}

const INSERT = `INSERT INTO thing_updates (channel, seq, model, action, entity_id, op_id, state, rev,
  accepted_at, payload) VALUES (1, 14, 'thing', 'update', 'lamp', 'late', 'active', 7, 9, '{}')`

mariaDb.test(
  'take-over/2: a node of the version before that goes on writes no update that would be lost',
  async (t, server) => {
    const url = await newDatabase(server)
    await makeFormer(url)
    const before = await onDatabase(url, rowsOf)
    await onDatabase(url, async (source) => {
      const runner = source.createQueryRunner()
      const query = runner.query.bind(runner)
      const refused: string[] = []
      const interrupted = {
        query: async (text: string, ...parameters: unknown[]): Promise<unknown> => {
          if (/^(SELECT id, channel|DROP TABLE)/.test(text)) {
            const writing: Promise<unknown> = source.query(INSERT)
            refused.push(
              await writing.then(
                () => 'written',
                () => 'refused',
              ),
            )
          }
          const answer: unknown = await query(text, ...(parameters as []))
          return answer
        },
      }
      Object.assign(runner, interrupted)
      await takeUpdates(runner)
      t.deepEqual(refused, ['refused', 'refused', 'refused'])
      await runner.release()
    })
    t.deepEqual(updatesOf(await onDatabase(url, rowsOf)), updatesOf(before))
  },
)

onEach(
  'a take-over that was not recorded is done again, and so is one of development',
  async (t, url) => {
    await makeFormer(url)
    const before = await onDatabase(url, rowsOf)
    await (await opened(t, url))[0].close()
    await onDatabase(url, async (source) => {
      await source.query('DELETE FROM migrations')
      const names = before['migrations']?.map(({ name }) => name) ?? []
      for (const name of [...names, 'SessionKeys1806000000000', 'UpdateBlocks1807000000000']) {
        await source.query('INSERT INTO migrations (timestamp, name) VALUES (1, ?)', [name])
      }
    })
    await (await opened(t, url))[0].close()
    expects(t, before, await onDatabase(url, rowsOf))
  },
)

onEach('migrate/3: a database that is too old to be taken over stays as it is', async (t, url) => {
  await makeFormer(url)
  await onDatabase(url, (source) =>
    source.query("DELETE FROM migrations WHERE name = 'Mappings1805500000000'"),
  )
  const before = await onDatabase(url, rowsOf)
  await t.throwsAsync(opened(t, url), {
    code: 'older_database',
    message: /too old to be taken over/,
  })
  t.deepEqual(await onDatabase(url, rowsOf), before)
})

onEach('what is taken over goes on: new updates come behind the old ones', async (t, url) => {
  await makeFormer(url)
  const [store] = await opened(t, url)
  const asked = {
    channels: [SECOND],
    things: [{ channelId: SECOND, id: 'meter' }],
    events: [],
    operations: [],
  }
  const { channels, things } = await store.turns.load(asked)
  t.like(channels[0], { headSeq: 6, things: 2 })
  t.like(things[0], { rev: 5, at: 52_000 })
  const { place, ...lease } = {
    lane: 0,
    epoch: 3,
    place: await store.turns.takeLane({ lane: 0, epoch: 3 }),
  }
  const [head] = channels
  if (head === undefined) return t.fail()
  const [first] = (await store.read.history({ channelId: SECOND, limit: 1 })).items
  if (first === undefined) return t.fail()
  const entry = { ...first, seq: 7, opId: opId('new') }
  const writes = { head: { ...head, headSeq: 7 }, things: [], events: [], entries: [entry] }
  await store.turns.commit({
    lanes: [{ ...lease, from: Number(place), to: Number(place) + 1 }],
    channels: [writes],
    operations: [],
    deadLetters: [],
  })
  for (const _ of [1, 2]) {
    const { items } = await store.read.history({ channelId: SECOND, limit: 9 })
    t.deepEqual(
      items.map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6, 7],
    )
    t.is(items.at(-1)?.opId, entry.opId)
    await joinAll(store)
  }
})
