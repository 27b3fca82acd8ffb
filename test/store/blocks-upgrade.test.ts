// A database of the version before, whose updates of Things were rows first and blocks later.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import type { Store } from '#src/store/store'
import { UpdateBlocks1807000000000 } from '#src/store/migrations/19-update-blocks'
import { joinAll } from '#test/support/joined'
import { newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, thing } from '#test/support/submissions'

const mariaDb = sharedMariaDb()
const UPDATES = 300
/** Rows and blocks were numbered alike: no block has the number of a row that is left. */
const FIRST_ROW = 40_000
const ROW = `INSERT INTO thing_updates (id, channel, seq, model, action, entity_id, op_id, state, rev,
    accepted_at, payload) VALUES (?, ?, ?, 'thing', 'update', ?, ?, 'active', ?, ?, ?)`

/** Makes a database with the history of two channels, some of it in joined blocks, as it was. */
async function oldDatabase(url: string, open: () => Promise<Store>) {
  const store = await open()
  const writers = [await ChannelWriter.open(store, 1), await ChannelWriter.open(store, 2)]
  for (const writer of writers) {
    const { channelId } = writer
    writer.take(thing('update', 'old', { at: 1, channelId }))
    await writer.commit()
  }
  await joinAll(store)
  const firstSeq = 2
  await store.close()
  const old = await new DataSource(dataSourceOptionsFor(url)).initialize()
  await old.undoLastMigration({ transaction: 'each' })
  for (let count = 0; count < UPDATES; count += 1) {
    for (const number of [1, 2]) {
      const seq = firstSeq + count
      const payload = JSON.stringify({ title: `ünïcödé ${seq}`, observed_at: seq })
      await old.query(ROW, [
        FIRST_ROW + 2 * count + number,
        number,
        seq,
        `t${count % 7}`,
        `op-${number}-${seq}`,
        seq,
        seq,
        payload,
      ])
    }
  }
  await old.query('UPDATE channel_heads SET head_seq = ?', [firstSeq + UPDATES - 1])
  await old.query('UPDATE lanes SET place = 0') // A writer begins there.
  return { old, firstSeq }
}

async function checks(t: ExecutionContext, store: Store): Promise<void> {
  for (const number of [1, 2]) {
    const { items } = await store.read.history({ channelId: channel(number), limit: 900 })
    t.deepEqual(
      items.map(({ seq }) => seq),
      Array.from({ length: UPDATES + 1 }, (_, at) => at + 1),
    )
    t.like(items[7], { seq: 8, opId: `op-${number}-8`, entityId: 't6', state: 'active', rev: 8 })
    t.is(items[7]?.payload, '{"title":"ünïcödé 8","observed_at":8}')
  }
}

/** Runs the step until it has sent so many statements, as if the process ended then. */
async function breakOff(source: DataSource, statements: number): Promise<boolean> {
  const runner = source.createQueryRunner()
  const query = runner.query.bind(runner)
  let sent = 0
  const breaking = {
    query: async (...words: Parameters<typeof query>): Promise<unknown> => {
      sent += 1
      if (sent > statements) throw new Error('ended')
      const answer: unknown = await query(...words)
      return answer
    },
  }
  Object.assign(runner, breaking)
  const isSqlite = source.options.type !== 'mysql'
  if (isSqlite) await query('BEGIN')
  try {
    await new UpdateBlocks1807000000000().up(runner)
    if (isSqlite) await query('ROLLBACK')
    return true
  } catch (error) {
    if (!(error instanceof Error) || error.message !== 'ended') throw error
    await query('ROLLBACK')
    return false
  } finally {
    Reflect.deleteProperty(runner, 'query')
    await runner.release()
  }
}

test('sqlite: a database of the version before reads the same, and goes on', async (t) => {
  const path = await databasePath(t)
  const open = (): Promise<Store> => openStoreAt(t, path)
  const { old } = await oldDatabase(`sqlite:${path}`, open)
  for (const statements of [3, 20]) t.false(await breakOff(old, statements))
  await old.destroy()
  const store = await open()
  await checks(t, store)
  const writer = await ChannelWriter.resume(store, 1)
  await writer.take(thing('update', 'new', { at: 9_999_999 })).commit()
  await joinAll(store)
  const { items } = await store.read.history({ channelId: channel(1), afterSeq: 300, limit: 9 })
  t.deepEqual(
    items.map(({ entityId }) => entityId),
    ['t5', 'new'],
  )
})

mariaDb.test(
  'mysql: a database of the version before reads the same, however often its upgrade was broken off',
  async (t, server) => {
    const url = await newDatabase(server)
    const { old } = await oldDatabase(url, () => openNode(t, url))
    let statements = 1
    while (statements < 40 && !(await breakOff(old, statements))) statements += 3
    t.true(statements > 9)
    await old.destroy()
    await checks(t, await openNode(t, url))
  },
)
