// How many deleted Things a job steps over for a device that gets none of them.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { parseDeviceId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { SCANNED_MAX } from '#src/store/statements/paging'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { message, thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'
import type { Watched } from '#test/support/watched-store'

const DELETED = 3 * SCANNED_MAX
const DEVICE = parseDeviceId('d'.repeat(64))

/** Two channels with a Message; the first one has a live Thing behind so many deleted ones. */
async function deserted(t: ExecutionContext) {
  if (DEVICE === undefined) throw new Error('not a device id')
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const other = await ChannelWriter.open(store, 2)
  await other.take(message({ channelId: other.channelId })).commit()
  const { channelId, head } = await ChannelWriter.open(store, 1)
  await store.database.durable(async (executor) => {
    await executor.run(
      `INSERT INTO things (channel, id, state, seq, op_id, document)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
        SELECT ?, 'gone-' || n, 'deleted', n, 'op-' || n, '{}' FROM numbers`,
      [DELETED, head.ref],
    )
    await executor.run('UPDATE channel_heads SET head_seq = ? WHERE channel = ?', [
      DELETED,
      head.ref,
    ])
  })
  await store.devices.create(DEVICE, 'linux', 1)
  await store.subscriptions.subscribe(DEVICE, channelId, 1)
  const writer = await ChannelWriter.resume(store, 1)
  await writer.take(thing('update', 'lamp')).commit()
  return { store, writer, channelId, other: other.channelId, device: DEVICE }
}

/** Counts the jobs of a kind from now on. */
function jobsOf({ database }: Watched, kind: 'snapshot' | 'repeatable'): () => number {
  let jobs = 0
  const own = database[kind].bind(database)
  const counting: typeof database.repeatable = (job, traits) => {
    jobs += 1
    return own(job, traits)
  }
  Object.assign(database, { [kind]: counting })
  return () => jobs
}

const SLICES = DELETED / SCANNED_MAX

test('deliverables/1: catching up finds what is behind tombstones, in jobs of a bounded number', async (t) => {
  const { store, channelId, other } = await deserted(t)
  const jobs = jobsOf(store, 'snapshot')
  const since = { afterSeq: 0, sinceSeq: DELETED, limit: 5 }
  const [page] = await store.read.catchUp([{ channelId, ...since }])
  t.deepEqual(
    page?.entries.map(({ entityId }) => entityId),
    ['lamp'],
  )
  t.true(page?.complete)
  t.is(jobs(), SLICES + 1)
  const both = [
    { channelId, ...since },
    { channelId: other, afterSeq: 0, sinceSeq: 0, limit: 5 },
  ]
  const pages = await store.read.catchUp(both)
  t.deepEqual(
    pages.map(({ entries, headSeq }) => [entries.length, headSeq]),
    [
      [1, DELETED + 1],
      [1, 1],
    ],
  )
})

test('deliverables/1: a page ends early where many tombstones follow, and the next one goes on', async (t) => {
  const { store, writer, channelId } = await deserted(t)
  await writer.take(message()).commit()
  const afterSeq = 0
  const sinceSeq = DELETED
  await store.database.durable((executor) =>
    executor.run(
      `UPDATE things SET state = 'active',
        document = (SELECT document FROM things WHERE id = 'lamp') WHERE seq = 1`,
    ),
  )
  const [first] = await store.read.catchUp([{ channelId, afterSeq, sinceSeq, limit: 5 }])
  t.is(first?.complete, false)
  t.deepEqual(
    first?.entries.map(({ seq }) => seq),
    [1],
  )
  const [next] = await store.read.catchUp([{ channelId, afterSeq: 1, sinceSeq, limit: 5 }])
  t.true(next?.complete)
  t.deepEqual(
    next?.entries.map(({ seq }) => seq),
    [DELETED + 1, DELETED + 2],
  )
})

test('deliverables/1: pulling finds what is behind tombstones, in jobs of a bounded number', async (t) => {
  const { store, device } = await deserted(t)
  const jobs = jobsOf(store, 'snapshot')
  const { items, hasMore } = await store.read.pull(device, 5)
  t.deepEqual(
    items.map(({ entityId }) => entityId),
    ['lamp'],
  )
  t.false(hasMore)
  t.is(jobs(), SLICES + 1)
})

test('acknowledgements/2: a position goes past tombstones to the head, job by job', async (t) => {
  const { store, device, channelId, writer } = await deserted(t)
  const jobs = jobsOf(store, 'repeatable')
  const acknowledged = { channelId, seq: writer.head.headSeq }
  t.is(await store.subscriptions.acknowledgeEntries(device, [acknowledged]), 1)
  const position = await store.subscriptions.position(device, channelId)
  t.is(position?.ackedSeq, writer.head.headSeq)
  t.is(jobs(), SLICES + 1)
})

test('acknowledgements/2: sixteen channels are acknowledged in a job', async (t) => {
  const { store, device } = await deserted(t)
  const acknowledged: { readonly channelId: ChannelId; readonly seq: number }[] = []
  for (let number = 3; number < 20; number += 1) {
    const writer = await ChannelWriter.open(store, number)
    const { channelId } = writer
    await store.subscriptions.subscribe(device, channelId, 1)
    await writer.take(message({ channelId })).commit()
    acknowledged.push({ channelId, seq: 1 })
  }
  const jobs = jobsOf(store, 'repeatable')
  t.is(await store.subscriptions.acknowledgeEntries(device, acknowledged), 17)
  t.is(jobs(), 2)
})
