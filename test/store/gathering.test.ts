// The bounds of gathering, and its end in the middle.

import test from 'ava'

import { operationIdFrom } from '#domain/identity'
import { blocksOf, updatesIn } from '#src/store/feed/update-blocks'
import { databasePath } from '#test/support/sqlite-store'
import { gatherAll } from '#test/support/gathered'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, opId, thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

const A = channel(1)
const LATE_MS = Number.MAX_SAFE_INTEGER

const rowOf = (index: number, payload: string) => ({
  ...thing('update', 'lamp'),
  id: index + 1,
  channel: 1,
  seq: index + 1,
  state: 'active',
  rev: index + 1,
  payload,
})

test('update-blocks/2: a block ends at 128 updates, or at 64 KiB of payload, and has one at least', (t) => {
  const sizesOf = (payloads: readonly string[]): readonly number[] =>
    [...blocksOf(payloads.map((payload, index) => rowOf(index, payload)))].map(
      ({ row }) => row.entries,
    )
  t.deepEqual(sizesOf(Array<string>(128).fill('{}')), [128])
  t.deepEqual(sizesOf(Array<string>(129).fill('{}')), [128, 1])
  const half = 'x'.repeat(32_768)
  t.deepEqual(sizesOf([half, half]), [2])
  t.deepEqual(sizesOf([half, `${half}x`]), [1, 1])
  t.deepEqual(sizesOf([half + half + half, half]), [1, 1])
})

test('update-blocks/1: an update reads back equal to its row, whatever its op_id and its values', (t) => {
  const random = 'f'.repeat(32)
  const at = (index: number, parts: object) => ({
    ...rowOf(index, '{"title":"ünïcödé 🛰"}'),
    ...parts,
  })
  const rows = [
    at(0, {}),
    at(1, { opId: operationIdFrom(1, random), acceptedAt: 2 }),
    at(2, { opId: operationIdFrom(7, random), acceptedAt: 7, state: null, rev: null }),
    at(3, { opId: opId('chosen-by-a-client'), channel: 2, seq: 5, payload: '{}' }),
    at(4, { channel: 2, seq: 9, acceptedAt: 0, action: 'archive', state: 'archived' }),
  ]
  const [block] = blocksOf(rows)
  const read = updatesIn(block?.row.content ?? Buffer.of())
  t.is(read.length, rows.length)
  for (const [index, update] of read.entries()) t.like(rows[index], update)
  t.deepEqual(updatesIn(block?.row.content ?? Buffer.of(), 2), read.slice(3))
})

test('a damaged block is a defect, not an empty page', (t) => {
  const [block] = blocksOf([rowOf(0, '{}')])
  const content = Buffer.from(block?.row.content ?? [])
  t.is(updatesIn(content, 1).length, 1)
  content[17] = 1 // The form behind one random part.
  t.throws(() => updatesIn(content, 1), { name: 'StoreDefect' })
})

test('gathering/3: nothing is gathered while nodes of the version before may read rows', async (t) => {
  const store = await openWatched(t, `sqlite:${await databasePath(t)}`)
  await store.database.durable((executor) =>
    executor.run(`INSERT INTO gateway_meta (name, value) VALUES ('compact_since', '900000')`),
  )
  const writer = await ChannelWriter.open(store, 1)
  await writer.take(thing('update', 'lamp')).commit()
  t.is(await store.gathering.gather(899_999), 0)
  t.is(await store.gathering.gather(900_000), 1)
})

test('gathering/4: a run takes 8 MiB of payload at most', async (t) => {
  const store = await openWatched(t, `sqlite:${await databasePath(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 140; count += 1) {
    writer.take(thing('update', `t${count}`, { fields: { note: 'x'.repeat(65_000) } }))
  }
  await writer.commit()
  const first = await store.gathering.gather(LATE_MS)
  t.true(first > 120 && first < 140, String(first))
  t.is(await store.gathering.gather(LATE_MS), 140 - first)
})

test('gathering/4: a run is read in slices of 1,024 rows, each a job of its own', async (t) => {
  const store = await openWatched(t, `sqlite:${await databasePath(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 1_100; count += 1) writer.take(thing('update', 'lamp', { at: count }))
  await writer.commit()
  const read: number[] = []
  const { database } = store
  const snapshot = database.snapshot.bind(database)
  const counting: Pick<typeof database, 'snapshot'> = {
    snapshot: async (job) => {
      const rows = await snapshot(job)
      read.push(Array.isArray(rows) ? rows.length : 0)
      return rows
    },
  }
  Object.assign(database, counting)
  t.is(await store.gathering.gather(LATE_MS), 1_100)
  t.deepEqual(read, [1_024, 76])
})

test('gathering/1: a run moves nothing when one of its rows has gone meanwhile', async (t) => {
  const store = await openWatched(t, `sqlite:${await databasePath(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  await writer.take(thing('update', 'a'), thing('update', 'b')).commit()
  const { database } = store
  const removing: Pick<typeof database, 'soon'> = {
    soon: (task) =>
      void database
        .durable((executor) => executor.run('DELETE FROM thing_updates WHERE id = 1'))
        .then(task),
  }
  Object.assign(database, removing)
  t.is(await store.gathering.gather(LATE_MS), 0)
  t.is((await store.read.history({ channelId: A, limit: 9 })).items.length, 1)
})

test('gathering/1: a run that ends in the middle leaves every update a row', async (t) => {
  const store = await openWatched(t, `sqlite:${await databasePath(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 300; count += 1) writer.take(thing('update', 'lamp', { at: count }))
  await writer.commit()
  const ask = () => store.read.history({ channelId: A, limit: 500 })
  const before = await ask()
  const rename = (from: string, to: string) =>
    store.database.durable((executor) => executor.run(`ALTER TABLE ${from} RENAME TO ${to}`))
  // Rows are removed and blocks are written by then.
  await rename('update_places', 'away')
  await t.throwsAsync(store.gathering.gather(LATE_MS))
  await rename('away', 'update_places')
  t.deepEqual(await ask(), before)
  t.is(await gatherAll(store), 300)
  t.deepEqual(await ask(), before)
})
