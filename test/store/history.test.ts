// How many blocks a job reads of a channel that has one update in each, and what a page has when
// turns commit while it is read.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Executor } from '#src/store/jobs/executor'
import { SeriesReading } from '#src/store/tiers/series'
import { FakeMeter } from '#test/support/fake-telemetry'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { message, opId, thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'
import type { Watched } from '#test/support/watched-store'

const BLOCKS = 40
const SLICE_BLOCKS = 16

async function blockByBlock(t: ExecutionContext) {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (let turn = 0; turn < BLOCKS; turn += 1) {
    await writer.take(thing('update', 'lamp', { at: turn, attrs: { n: turn } })).commit()
  }
  return { store, writer }
}

/** The blocks that each job reads from now on; jobs without any are left out. */
function blocksOfJobs({ database }: Watched): readonly number[] {
  const jobs: number[] = []
  const counting = async <Answer>(job: (executor: Executor) => Promise<Answer>, own: Executor) => {
    let blocks = 0
    const all = async <Row>(...asked: Parameters<Executor['all']>): Promise<Row[]> => {
      const rows = await own.all<Row>(...asked)
      if (asked[0].includes('content')) blocks += rows.length
      return rows
    }
    const { dialect, limits } = own
    const [first, run, make] = [own.first.bind(own), own.run.bind(own), own.make.bind(own)]
    const answer = await job({ dialect, limits, all, first, run, make })
    if (blocks > 0) jobs.push(blocks)
    return answer
  }
  const read = database.read.bind(database)
  const snapshot = database.snapshot.bind(database)
  const watched: Pick<typeof database, 'read' | 'snapshot'> = {
    read: (job, traits) => read((executor) => counting(job, executor), traits),
    snapshot: (job) => snapshot((executor) => counting(job, executor)),
  }
  Object.assign(database, watched)
  return jobs
}

const A_SLICE_EACH = [SLICE_BLOCKS, SLICE_BLOCKS, BLOCKS - 2 * SLICE_BLOCKS]

test('history/1: a page reads its blocks in slices, each a job of its own', async (t) => {
  const { store, writer } = await blockByBlock(t)
  const jobs = blocksOfJobs(store)
  const { items, next } = await store.read.history({ channelId: writer.channelId, limit: 100 })
  t.deepEqual(items, writer.feed)
  t.is(next, undefined)
  t.deepEqual(jobs, A_SLICE_EACH)
})

test('history/1: receipts look for an entry in slices, each a job of its own', async (t) => {
  const { store, writer } = await blockByBlock(t)
  const jobs = blocksOfJobs(store)
  const operation = { opId: opId('unknown'), acceptedAt: 0 }
  const query = { channelId: writer.channelId, entityId: 'none', operation, providers: [] }
  t.is(await store.read.receipts(query), undefined)
  t.deepEqual(jobs, A_SLICE_EACH)
})

test('raw/1: a slice ends with its blocks, however few updates of the channel they have', async (t) => {
  const { store, writer } = await blockByBlock(t)
  const jobs = blocksOfJobs(store)
  const series = new SeriesReading(store.database, new FakeMeter())
  const query = { channelId: writer.channelId, thingId: 'lamp', from: 0, to: 1e9 }
  const { attrs } = await series.series({ ...query, step: 'raw' })
  t.is(attrs['n']?.times.length, BLOCKS)
  t.deepEqual(jobs, A_SLICE_EACH)
})

test('history/1: a page has no hole where turns commit while it is read', async (t) => {
  const { store, writer } = await blockByBlock(t)
  const { database } = store
  const snapshot = database.snapshot.bind(database)
  const behind: typeof database.snapshot = async (job) => {
    Object.assign(database, { snapshot })
    await writer.take(thing('update', 'lamp', { at: BLOCKS }), message()).commit()
    return snapshot(job)
  }
  Object.assign(database, { snapshot: behind })
  const { channelId } = writer
  const [whole, rest] = [
    await store.read.history({ channelId, limit: 100 }),
    await store.read.history({ channelId, limit: 100, afterSeq: BLOCKS }),
  ]
  t.deepEqual([...whole.items, ...rest.items], writer.feed)
  t.is(whole.items.length, BLOCKS)
})
