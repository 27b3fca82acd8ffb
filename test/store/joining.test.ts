// The form of blocks, the bounds of joining, and its end in the middle.

import test from 'ava'

import { operationIdFrom } from '#domain/identity'
import { blocksOf, updatesIn } from '#src/store/feed/update-blocks'
import { emptyFile } from '#test/support/sqlite-store'
import type { Value } from '#src/store/dialect'
import { joinAll } from '#test/support/joined'
import { NEVER } from '#test/support/retention-limits'
import { stepsOf } from '#test/support/retired'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, opId, thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

const A = channel(1)
const LATE_MS = Number.MAX_SAFE_INTEGER

const updateOf = (index: number, payload: string, parts: object = {}) => ({
  ref: 1,
  item: {
    ...thing('update', 'lamp'),
    seq: index + 1,
    state: 'active',
    rev: index + 1,
    payload,
    ...parts,
  },
})

test('update-blocks/2: a block ends at 128 updates, or at 64 KiB of payload, and has one at least', (t) => {
  const sizesOf = (payloads: readonly string[]): readonly number[] =>
    [...blocksOf(payloads.map((payload, index) => updateOf(index, payload)))].map(
      ({ entries }) => entries,
    )
  t.deepEqual(sizesOf(Array<string>(128).fill('{}')), [128])
  t.deepEqual(sizesOf(Array<string>(129).fill('{}')), [128, 1])
  const half = 'x'.repeat(32_768)
  t.deepEqual(sizesOf([half, half]), [2])
  t.deepEqual(sizesOf([half, `${half}x`]), [1, 1])
  t.deepEqual(sizesOf([half + half + half, half]), [1, 1])
})

test('update-blocks/1: an update reads back as it was written, whatever its op_id and its values', (t) => {
  const random = 'f'.repeat(32)
  const at = (index: number, parts: object) =>
    updateOf(index, '{"title":"ünïcödé 🛰"}', { state: null, rev: null, ...parts })
  const updates = [
    updateOf(0, '{"title":"ünïcödé 🛰"}'),
    at(1, { opId: operationIdFrom(1, random), acceptedAt: 2 }),
    at(2, { opId: operationIdFrom(7, random), acceptedAt: 7 }),
    { ...at(3, { opId: opId('chosen-by-a-client'), seq: 5, payload: '{}' }), ref: 2 },
    { ...at(4, { seq: 9, acceptedAt: 0, action: 'archive', state: 'archived' }), ref: 2 },
  ]
  const [block] = blocksOf(updates)
  const read = updatesIn(block?.content ?? Buffer.of())
  t.is(read.length, updates.length)
  for (const [index, { channel: ref, ...update }] of read.entries()) {
    t.like(updates[index], { ref, item: update })
  }
  t.deepEqual(updatesIn(block?.content ?? Buffer.of(), { channel: 2 }), read.slice(3))
  t.deepEqual(
    block?.places.map(({ channel: ref, lastSeq }) => [ref, lastSeq]),
    [
      [1, 3],
      [2, 9],
    ],
  )
})

test('a damaged block is a defect, not an empty page', (t) => {
  const [block] = blocksOf([updateOf(0, '{}')])
  const content = Buffer.from(block?.content ?? [])
  t.is(updatesIn(content, { channel: 1 }).length, 1)
  content[17] = 1 // The form behind one random part.
  t.throws(() => updatesIn(content, { channel: 1 }), { name: 'StoreDefect' })
})

test('joining/3: a run takes 8 MiB of payload at most beyond one slice', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 160; count += 1) {
    writer.take(thing('update', `t${count}`, { fields: { note: 'x'.repeat(65_000) } }))
  }
  await writer.commit()
  const first = await store.joining.join(LATE_MS)
  t.true(first > 120 && first <= 136, String(first))
  t.is(await store.joining.join(LATE_MS), 160 - first)
})

test('joining/3: a run is read in slices of four blocks, each a job of its own', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 1_100; count += 1) writer.take(thing('update', 'lamp', { at: count }))
  await writer.commit()
  const read: number[] = []
  const { database } = store
  const all = database.all.bind(database)
  const counting: Pick<typeof database, 'all'> = {
    all: async <Row>(sql: string, parameters?: readonly Value[]) => {
      const rows = await all<Row>(sql, parameters)
      if (sql.includes('content')) read.push(rows.length)
      return rows
    },
  }
  Object.assign(database, counting)
  t.is(await store.joining.join(LATE_MS), 1_100)
  t.deepEqual(read, [4, 4, 1])
})

test('update-blocks/3, joining/2: late readings stay where they came, and no reader gets them', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const { database } = store
  const writer = await ChannelWriter.open(store, 1)
  const commits: readonly (readonly (readonly [at: number, n: number])[])[] = [
    [[10, 0]],
    [
      [5, 1],
      [6, 2],
    ],
    [[4, 3]],
    [
      [11, 4],
      [7, 5],
    ],
    [[8, 6]],
  ]
  for (const commit of commits) {
    for (const [at, n] of commit) writer.take(thing('update', 'lamp', { at, attrs: { n } }))
    await writer.commit()
  }
  const kept = async () => {
    const blocks = await database.all<{ readonly content: Uint8Array }>(
      'SELECT content FROM update_blocks ORDER BY id',
    )
    return blocks
      .flatMap(({ content }) => updatesIn(content))
      .map(({ seq, payload }) => [seq, payload])
  }
  const placed = async () =>
    (await database.all<{ readonly seq: number }>('SELECT last_seq AS seq FROM update_places'))
      .map(({ seq }) => seq)
      .toSorted((one, other) => one - other)
  const late = (at: number, n: number) => [undefined, `{"observed_at":${at},"attrs":{"n":${n}}}`]
  const all = [
    [1, '{"observed_at":10,"attrs":{"n":0}}'],
    late(5, 1),
    late(6, 2),
    late(4, 3),
    [2, '{"observed_at":11,"attrs":{"n":4}}'],
    late(7, 5),
    late(8, 6),
  ]
  const ofFeed = async () => {
    const [page] = await store.read.catchUp([{ channelId: A, afterSeq: 0, sinceSeq: 0, limit: 9 }])
    const { items } = await store.read.history({ channelId: A, limit: 9 })
    return [items, page?.entries.map(({ seq, action }) => [seq, action])]
  }
  const read = [writer.feed, [[2, 'sync']]]
  t.deepEqual([await kept(), await placed(), await ofFeed()], [all, [-7, -4, -2, 1, 2], read])
  t.is(await joinAll(store), all.length)
  t.deepEqual([await kept(), await placed(), await ofFeed()], [all, [2], read])
  await writer.take(thing('update', 'lamp', { at: 9, attrs: { n: 7 } })).commit()
  t.deepEqual([await placed(), await ofFeed()], [[-8, 2], read])
  t.is(await joinAll(store), 1)
  t.deepEqual(await stepsOf(store, { ...NEVER, thingUpdates: LATE_MS }, 9), [4])
  t.deepEqual([await kept(), await placed()], [[], []])
})

test('joining/1: a run joins nothing when one of its blocks has gone meanwhile', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  await writer.take(thing('update', 'a')).commit()
  await writer.take(thing('update', 'b')).commit()
  const { database } = store
  const removing: Pick<typeof database, 'soon'> = {
    soon: (task) =>
      void database
        .durable((executor) => executor.run('DELETE FROM update_blocks WHERE id = 1'))
        .then(task),
  }
  Object.assign(database, removing)
  t.is(await store.joining.join(LATE_MS), 0)
  const left = await database.all('SELECT id FROM update_blocks WHERE is_joined = 0')
  t.is(left.length, 1)
})

test('joining/1: a run that ends in the middle leaves every block as it was', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 300; count += 1) {
    await writer.take(thing('update', 'lamp', { at: count })).commit()
  }
  const ask = () => store.read.history({ channelId: A, limit: 500 })
  const before = await ask()
  // Blocks are removed by then.
  const refuse = `CREATE TRIGGER refuse BEFORE INSERT ON update_places
    BEGIN SELECT raise(ABORT, 'no'); END`
  await store.database.durable((executor) => executor.run(refuse))
  await t.throwsAsync(store.joining.join(LATE_MS))
  await store.database.durable((executor) => executor.run('DROP TRIGGER refuse'))
  t.deepEqual(await ask(), before)
  t.is(await joinAll(store), 300)
  t.deepEqual(await ask(), before)
  const blocks = await store.database.all('SELECT id FROM update_blocks')
  t.is(blocks.length, 3)
})

test('joining/2: joined blocks keep the order of a channel that goes on, whatever else has run', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writers = [await ChannelWriter.open(store, 1), await ChannelWriter.open(store, 2)]
  for (let round = 1; round <= 5; round += 1) {
    for (const [index, writer] of writers.entries()) {
      const { channelId } = writer
      for (let count = 0; count < 70 * (index + 1); count += 1) {
        writer.take(thing('update', `t${count % 3}`, { at: round * 1_000 + count, channelId }))
      }
      await writer.commit()
    }
    if (round % 2 === 0) await joinAll(store)
  }
  for (const { channelId, feed } of writers) {
    t.deepEqual((await store.read.history({ channelId, limit: 900 })).items, feed)
  }
})
