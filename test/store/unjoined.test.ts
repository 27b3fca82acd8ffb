// A series reads blocks that are not joined, while joining replaces some and turns add others.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { TIER_MS } from '#domain/history/series'
import type { BucketColumns } from '#domain/history/series'
import { SeriesReading } from '#src/store/tiers/series'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { thing } from '#test/support/submissions'
import { START, joinOld } from '#test/support/tiers'
import { openWatched } from '#test/support/watched-store'

const BLOCKS = 40
const MINUTE = 60_000

/** A Thing that said a number in each of so many turns. */
async function reporting(t: ExecutionContext) {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  let said = 0
  const say = (): Promise<unknown> => {
    const at = START + said * MINUTE
    said += 1
    return writer.take(thing('update', 'a', { at, attrs: { n: said }, acceptedAt: at })).commit()
  }
  for (let turn = 0; turn < BLOCKS; turn += 1) await say()
  const series = new SeriesReading(store.database)
  const counted = async (): Promise<number> => {
    const query = { channelId: writer.channelId, thingId: 'a', from: 0, to: START + 1e9 }
    const { attrs } = await series.series({ ...query, step: '1d' })
    const { count = [] } = (attrs['n'] ?? {}) as Partial<BucketColumns>
    return count.reduce((sum, each) => sum + each, 0)
  }
  return { store, say, counted }
}

// Method: what happens once a series has read ahead, and how many readings it has to count.
const MEANWHILE = [
  ['nothing happens', 0, false],
  ['all blocks are joined', 0, true],
  ['others come', 3, false],
  ['all blocks are joined, and others come', 3, true],
] as const

for (const [title, more, isJoined] of MEANWHILE) {
  test(`unjoined/1, series/1: each reading counts once when ${title} meanwhile`, async (t) => {
    const { store, say, counted } = await reporting(t)
    const { database } = store
    const snapshot = database.snapshot.bind(database)
    const behind: typeof database.snapshot = async (job) => {
      Object.assign(database, { snapshot })
      if (isJoined) await joinOld(store)
      for (let turn = 0; turn < more; turn += 1) await say()
      return snapshot(job)
    }
    Object.assign(database, { snapshot: behind })
    t.is(await counted(), BLOCKS + more)
    t.is(await counted(), BLOCKS + more)
  })
}

// Method: a Thing speaks once in each of several buckets; between that another one has many turns,
// and joining has not begun.
const WIDTH = TIER_MS['5m']
const BUCKETS = 4
const TURNS = 10

const FOLLOWED: readonly (readonly [blocks: number, counted: number, requests: number])[] = [
  [BUCKETS * TURNS, BUCKETS, 1],
  [TURNS, BUCKETS, BUCKETS],
  [TURNS - 2, BUCKETS - 1, BUCKETS],
  [1, 0, BUCKETS],
]

for (const [blocks, counted, requests] of FOLLOWED) {
  test(`series/2, unjoined/3: who follows the end gets on where a read takes ${blocks} blocks`, async (t) => {
    const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
    const writer = await ChannelWriter.open(store, 1)
    for (let turn = 0; turn < BUCKETS * TURNS; turn += 1) {
      const at = START + (turn * WIDTH) / TURNS
      const inBucket = turn % TURNS
      // In the last bucket it speaks last.
      const speaks = inBucket === (turn < (BUCKETS - 1) * TURNS ? 1 : TURNS - 1)
      const id = speaks ? 'a' : 'b'
      await writer.take(thing('update', id, { at, attrs: { n: 1 }, acceptedAt: at })).commit()
    }
    const series = new SeriesReading(store.database, { blocks })
    const to = START + BUCKETS * WIDTH
    let [from, found, asked, isPartial] = [START, 0, 0, false]
    while (from < to && asked < 2 * BUCKETS) {
      const query = { channelId: writer.channelId, thingId: 'a', step: '5m', from, to } as const
      const answer = await series.series(query)
      const { count = [] } = (answer.attrs['n'] ?? {}) as Partial<BucketColumns>
      found += count.reduce((sum, each) => sum + each, 0)
      from = answer.wholeTo ?? to
      isPartial ||= answer.isPartial === true
      asked += 1
    }
    t.deepEqual([from, found, asked], [to, counted, requests])
    t.is(isPartial, blocks < BUCKETS * TURNS)
  })
}

test('unjoined/2: blocks are read ahead in slices, each a job of its own', async (t) => {
  const { store, counted } = await reporting(t)
  const { database } = store
  const read: number[] = []
  const all = database.all.bind(database)
  const counting: Pick<typeof database, 'all'> = {
    all: async <Row>(...asked: Parameters<typeof all>) => {
      const rows = await all<Row>(...asked)
      if (asked[0].includes('content')) read.push(rows.length)
      return rows
    },
  }
  Object.assign(database, counting)
  t.is(await counted(), BLOCKS)
  t.deepEqual(read, [16, 16, 8])
})
