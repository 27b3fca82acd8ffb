// The bounds of tiers, and their ends in the middle.

import test from 'ava'

import { PERIOD_MS, TIER_MS } from '#domain/history/series'
import { Buckets, NONE } from '#src/store/tiers/buckets'
import { beginsOf, cellsOf, placeOf } from '#src/store/tiers/cells'
import { addChunk, writeChunk } from '#src/store/tiers/chunk'
import { contributionsOf } from '#src/store/tiers/contributions'
import { BUCKET_LENGTH } from '#src/store/tiers/rows'
import { SeriesReading } from '#src/store/tiers/series'
import { FakeMeter } from '#test/support/fake-telemetry'
import { emptyFile } from '#test/support/sqlite-store'
import { joinAll } from '#test/support/joined'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, thing } from '#test/support/submissions'
import { joinOld, mergeAll } from '#test/support/tiers'
import { openWatched } from '#test/support/watched-store'

const WIDTH = TIER_MS['5m']
const EVER = { '5m': 1e14, '1h': 1e14, '1d': 1e14 }
const START = 20_000 * TIER_MS['1d']

const seriesOf = (buckets: Buckets, name: string, attr: string): number =>
  buckets.seriesIn(buckets.seriesOf(name), attr, 0)

const listOf = (buckets: Buckets, name: string, attr: string) => {
  const list: (readonly number[])[] = []
  let bucket = buckets.firstOf(seriesOf(buckets, name, attr))
  for (; bucket !== NONE; bucket = buckets.nextOf(bucket)) {
    list.push([...buckets.numbers.subarray(bucket, bucket + BUCKET_LENGTH)])
  }
  return list
}

for (const isCompressed of [false, true]) {
  test(`chunk/1: buckets read back as they were written, ${isCompressed ? '' : 'not '}compressed`, (t) => {
    const buckets = new Buckets(WIDTH)
    for (const [at, value] of [
      [1, 5],
      [2, -0.1],
      [WIDTH, 1e308],
      [3, 7],
    ] as const) {
      buckets.read(seriesOf(buckets, 'ünïcödé', '__proto__'), at, value)
      buckets.read(seriesOf(buckets, 'b', 'n'), at + WIDTH, value)
    }
    const { content } = writeChunk(buckets, buckets.counted(), { isCompressed })
    const read = new Buckets(WIDTH)
    addChunk(read, content, () => true)
    t.deepEqual(listOf(read, 'ünïcödé', '__proto__'), listOf(buckets, 'ünïcödé', '__proto__'))
    const some = new Buckets(WIDTH)
    addChunk(some, content, (name) => name === 'b')
    t.deepEqual([...some.things.keys()], ['b'])
    t.deepEqual(listOf(some, 'b', 'n'), listOf(buckets, 'b', 'n'))
    t.throws(() => addChunk(read, content.subarray(0, 20), () => true), { name: 'StoreDefect' })
  })
}

test('a bucket takes 20 bytes with one reading and 44 with more, before it is compressed', (t) => {
  const bytesOf = (readings: number): number => {
    const buckets = new Buckets(WIDTH)
    for (let at = 0; at < 1_000; at += 1) {
      for (let one = 0; one < readings; one += 1) {
        buckets.read(seriesOf(buckets, 'a', 'n'), at * WIDTH + one, one)
      }
    }
    return Math.floor(writeChunk(buckets, buckets.counted(), { isCompressed: false }).bytes / 1_000)
  }
  t.deepEqual([bytesOf(1), bytesOf(2)], [20, 44])
})

test('a cell that holds a Thing begins at one of its places', (t) => {
  const buckets = new Buckets(WIDTH)
  for (let index = 0; index < 2_000; index += 1) {
    buckets.read(seriesOf(buckets, `t${index}`, 'n'), index * WIDTH, 1)
  }
  const cells = [...cellsOf(buckets)]
  t.true(cells.length > 4)
  for (const { cell, things } of cells) {
    for (const of of things) t.true(beginsOf(placeOf(of.thing)).includes(cell.firstPlace))
  }
  t.is(cells.flatMap(({ things }) => things).length, 2_000)
})

test('contributions/3: a run gathers at most 65,536 buckets at a time, in chunks of their order', async (t) => {
  const attrs = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`n${index}`, index]))
  const updates = Array.from({ length: 1_100 }, (_, index) => ({
    ref: 1,
    item: {
      ...thing('update', 'a'),
      seq: index + 1,
      payload: JSON.stringify({ observed_at: index * WIDTH, attrs }),
    },
  }))
  const of = { runs: new Map([[1, 3]]), nowMs: 0, pause: () => Promise.resolve() }
  const { chunks } = await contributionsOf(updates, of)
  t.deepEqual(
    chunks.map(({ run }) => run),
    [192, 193],
  )
  t.true(chunks.every(({ bytes }) => bytes < 1_500_000))
})

test('merging/2: a merge during which a deletion was joined brings nothing back', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const { database } = store
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 8; count += 1) {
    await writer.take(thing('update', 'a', { at: START + count, attrs: { n: count } })).commit()
    await joinAll(store)
  }
  const { soon } = database
  let isDeleted = false
  const deleting: Pick<typeof database, 'soon'> = {
    soon: (task) => {
      if (isDeleted) return soon(task)
      isDeleted = true
      void writer
        .take(thing('delete', 'a', { at: START + 9 }))
        .commit()
        .then(() => joinAll(store))
        .then(task)
    },
  }
  Object.assign(database, deleting)
  t.is(await store.merging.merge(START, EVER), 0)
  const rows = await database.all<{ tier: number }>('SELECT tier FROM tier_chunks')
  t.deepEqual(new Set(rows.map(({ tier }) => tier)), new Set([0]))
  const query = { channelId: channel(1), thingId: 'a', step: '1d', from: 0, to: 2 * START } as const
  t.deepEqual(await store.series.series(query), { attrs: {} })
})

test('series/1: a series counts a block once while it is joined and merged', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let count = 0; count < 20; count += 1) {
    await writer.take(thing('update', 'a', { at: START + count, attrs: { n: count } })).commit()
  }
  const query = {
    channelId: channel(1),
    thingId: 'a',
    step: '5m',
    from: START,
    to: START + 1,
  } as const
  const ask = async () => (await store.series.series(query)).attrs['n']
  const answers = await Promise.all([
    ask(),
    joinAll(store),
    ask(),
    store.merging.merge(START, EVER),
    ask(),
  ])
  for (const answer of answers) if (typeof answer === 'object') t.like(answer, { count: [20] })
})

test('series/2, raw/1: beyond what a read may take it says up to where it is whole', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const attrs = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`n${index}`, index]))
  for (let count = 0; count < 1_025; count += 1) {
    writer.take(
      thing('update', 'a', { at: START + count * WIDTH, acceptedAt: START + count, attrs }),
    )
  }
  await writer.commit()
  const query = { channelId: channel(1), thingId: 'a', from: START, to: 2 * START } as const
  for (const step of ['5m', 'raw'] as const) {
    const all = await store.series.series({ ...query, step })
    const most = await store.series.series({ ...query, step, to: START + 1_024 * WIDTH })
    t.deepEqual([most.wholeFrom, most.wholeTo], [undefined, undefined])
    t.is(most.attrs['n0']?.times.length, 1_024)
    if (step === 'raw') t.is(all.wholeTo, START + 1_024 * WIDTH)
    else t.is(all.wholeFrom, START + WIDTH)
  }
})

test('series/2: of periods beyond what a read may take it gives nothing, late data neither', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const week = PERIOD_MS['1h']
  const first = START - (START % week)
  const say = (at: number, n: number) =>
    writer.take(thing('update', 'a', { at, acceptedAt: START, attrs: { n } })).commit()
  for (const at of [first, first + week]) await say(at, 1)
  await joinOld(store)
  await mergeAll(store)
  const query = { channelId: channel(1), thingId: 'a', step: '1h', from: 0, to: 2 * START } as const
  const ask = async () => {
    const { wholeFrom, attrs } = await store.series.series(query)
    return [wholeFrom, attrs['n']?.times]
  }
  t.deepEqual(await ask(), [undefined, [first, first + week]])
  await store.database.change('UPDATE tier_chunks SET bytes = ? WHERE tier = ? AND period = ?', [
    2 ** 24,
    TIER_MS['1h'],
    first,
  ])
  await say(first, 2)
  t.deepEqual(await ask(), [first + week, [first + week]])
  await joinOld(store)
  t.deepEqual(await ask(), [first + week, [first + week]])
})

test('series/2: it gives nothing, and says so, where what is in no tier yet is more than a read may take', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  await writer.take(thing('update', 'a', { at: START, attrs: { n: 1 } })).commit()
  await joinOld(store)
  await store.database.change('UPDATE tier_chunks SET bytes = ?', [2 ** 24])
  const query = { channelId: channel(1), thingId: 'a', from: START, to: 2 * START } as const
  const found = await store.series.series({ ...query, step: '5m' })
  t.deepEqual(found, { attrs: {}, wholeFrom: 2 * START })
})

test('series/2: beyond what a read may take of blocks it is whole up to the newest bucket that it read', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const say = (count: number) => {
    const at = START + count * 1_000
    return writer.take(thing('update', 'a', { at, acceptedAt: at + WIDTH, attrs: { n: count } }))
  }
  for (let count = 0; count < 2_048; count += 1) await say(count).commit()
  const query = { channelId: channel(1), thingId: 'a', from: START, to: 2 * START } as const
  const ask = async () => {
    const { wholeTo, attrs } = await store.series.series({ ...query, step: '5m' })
    return [wholeTo, attrs['n']?.times.at(-1)]
  }
  const newest = START + 2_047_000 - (2_047_000 % WIDTH)
  t.deepEqual(await ask(), [undefined, newest])
  await say(2_048).commit()
  t.deepEqual(await ask(), [newest, newest - WIDTH])
})

test('raw/1: readings are whole with as many updates as a read unpacks, and up to the last of them with one more', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const most = 512
  const series = new SeriesReading(store.database, new FakeMeter(), { updates: most })
  const query = { channelId: channel(1), thingId: 'a', from: START, to: 2 * START } as const
  const ask = async () => {
    const { wholeTo, attrs } = await series.series({ ...query, step: 'raw' })
    return [wholeTo, attrs['n']?.times.length]
  }
  const say = (count: number) => {
    const at = START + count
    const id = count % 2 === 0 ? 'a' : 'b'
    return writer.take(thing('update', id, { at, acceptedAt: at, attrs: { n: count } }))
  }
  for (let count = 0; count < most; count += 1) say(count)
  await writer.commit()
  t.deepEqual(await ask(), [undefined, most / 2])
  await say(most).commit()
  // The newest reading of the Thing that was unpacked may have others of its time behind it.
  t.deepEqual(await ask(), [START + most - 2, most / 2 - 1])
})

test('raw/2: a late reading counts once, also when it is joined in the middle of a read', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const { database } = store
  const writer = await ChannelWriter.open(store, 1)
  for (const at of [START + 2, START]) {
    await writer.take(thing('update', 'a', { at, acceptedAt: START, attrs: { n: at } })).commit()
  }
  t.is(writer.late.length, 1)
  const snapshot = database.snapshot.bind(database)
  const joining: Pick<typeof database, 'snapshot'> = {
    snapshot: async (read) => {
      const answer = await snapshot(read)
      await joinAll(store)
      return answer
    },
  }
  Object.assign(database, joining)
  const query = {
    channelId: channel(1),
    thingId: 'a',
    step: 'raw',
    from: 0,
    to: 2 * START,
  } as const
  const { attrs } = await store.series.series(query)
  t.deepEqual(attrs['n']?.times, [START, START + 2])
})
