// A series reads blocks that are not joined, while joining replaces some and turns add others.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { TIER_MS } from '#domain/history/series'
import type { BucketColumns } from '#domain/history/series'
import { hashOf } from '#domain/identity'
import { KNOWN_BYTES_MAX, KnownBlocks } from '#src/store/tiers/known-blocks'
import { SeriesReading } from '#src/store/tiers/series'
import { FakeMeter } from '#test/support/fake-telemetry'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { thing } from '#test/support/submissions'
import { START, joinOld } from '#test/support/tiers'
import { openWatched } from '#test/support/watched-store'
import type { Watched } from '#test/support/watched-store'

const BLOCKS = 40
const MINUTE = 60_000

/** A Thing that said a number in each of so many turns. */
async function reporting(t: ExecutionContext, reporter = 'a') {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  let said = 0
  const say = (): Promise<unknown> => {
    const at = START + said * MINUTE
    said += 1
    return writer
      .take(thing('update', reporter, { at, attrs: { n: said }, acceptedAt: at }))
      .commit()
  }
  for (let turn = 0; turn < BLOCKS; turn += 1) await say()
  const meter = new FakeMeter()
  const series = new SeriesReading(store.database, meter)
  const counted = async (thingId = 'a'): Promise<number> => {
    const query = { channelId: writer.channelId, thingId, from: 0, to: START + 1e9 }
    const { attrs } = await series.series({ ...query, step: '1d' })
    const { count = [] } = (attrs['n'] ?? {}) as Partial<BucketColumns>
    return count.reduce((sum, each) => sum + each, 0)
  }
  return { store, say, counted, meter }
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
    const series = new SeriesReading(store.database, new FakeMeter(), { blocks })
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

/** How many blocks each read of their content gives. */
function contentsOf({ database }: Watched): readonly number[] {
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
  return read
}

test('unjoined/2: blocks are read ahead in slices, each a job of its own', async (t) => {
  const { store, counted } = await reporting(t)
  const read = contentsOf(store)
  t.is(await counted(), BLOCKS)
  t.deepEqual(read, [16, 16, 8])
})

test('a block is looked through once, for whichever Thing is asked for later', async (t) => {
  const { store, say, counted, meter } = await reporting(t)
  const read = contentsOf(store)
  t.is(await counted('b'), 0)
  t.is(meter.gauges.get('known_blocks')?.(), BLOCKS)
  await say()
  t.is(await counted('c'), 0)
  t.deepEqual(read, [16, 16, 8, 1])
  t.is(await counted('a'), BLOCKS + 1)
})

test('known-blocks/1: of two Things whose ids have one hash each has its own readings', async (t) => {
  const [one, other] = ['costarring', 'liquid']
  t.is(hashOf(one), hashOf(other))
  const { counted } = await reporting(t, one)
  t.deepEqual([await counted(other), await counted(one)], [0, BLOCKS])
})

test('known-blocks/2: of the blocks that are known those used longest ago go first', (t) => {
  const meter = new FakeMeter()
  const blocks = new KnownBlocks(meter)
  const things = Array.from({ length: 128 }, (_, index) => `thing-${index}`)
  const size = (): number | undefined => meter.gauges.get('known_blocks')?.()
  const limit = KNOWN_BYTES_MAX / things.length / Uint32Array.BYTES_PER_ELEMENT
  let most = 0
  for (; size() === most && most < limit; most += 1) blocks.learn(most, things)
  t.is(size(), most - 1)
  const unknown = hashOf('unknown')
  t.false(blocks.mayHave(1, unknown))
  blocks.learn(most, things)
  t.is(size(), most - 1)
  t.deepEqual(
    [0, 1, 2, 3].map((block) => blocks.mayHave(block, unknown)),
    [true, false, true, false],
  )
  t.true(blocks.mayHave(3, hashOf('thing-127')))
})
