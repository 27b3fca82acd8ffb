// Method: a database of which every row is counted, since no port shows what nobody can reach.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { EVERYTHING, NEVER } from '#test/support/retention-limits'
import { emptyFile } from '#test/support/sqlite-store'
import { joinAll } from '#test/support/joined'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'
import type { Watched } from '#test/support/watched-store'
import { rounds } from '#test/support/until'
import { stepsOf } from '#test/support/retired'

const A = channel(1)
const TABLES = `channels channel_heads subscriptions things events tombstones feed_entries
  update_blocks update_places tier_chunks tier_cuts operations operation_batches claims dead_letters`.split(
  /\s+/,
)

const open = async (t: ExecutionContext): Promise<Watched> =>
  openWatched(t, `sqlite:${await emptyFile(t)}`)

function rowsOf({ database }: Watched): Promise<number> {
  return database.read(async (executor) => {
    let rows = 0
    for (const table of TABLES) {
      rows += (await executor.first<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n ?? 0
    }
    return rows
  })
}

/** A channel with some of every kind, which is then deleted. */
async function fill(store: Watched): Promise<void> {
  const writer = await ChannelWriter.open(store, 1)
  for (const name of ['a', 'b', 'c']) {
    writer.take(message({ opId: name }), thing('delete', name), event('close', name))
    const claim = { channelId: A, thingId: '', contentHash: 'a', claimedAt: 1, opId: opId(name) }
    await store.operations.claim({ ...claim, messageId: message().entityId }, 0)
  }
  await writer.commit()
  await joinAll(store)
  await store.channels.delete(A, 1)
}

for (const maxRows of [1, 2, 3, 7]) {
  test(`retention/4: a step of ${maxRows} removes no more rows, and tells of each`, async (t) => {
    const store = await open(t)
    await fill(store)
    const before = await rowsOf(store)
    let left = before
    for (const goOn = rounds(); goOn();) {
      const removed = await store.retention.step(EVERYTHING, maxRows)
      const now = await rowsOf(store)
      t.is(left - now, removed)
      t.true(removed <= maxRows)
      left = now
      if (removed === 0) break
    }
    // With room for one row only pairs stay: three claims, six tombstones, two rows of the channel,
    // and a block, whose place has gone with the channel.
    t.is(left, maxRows === 1 ? 3 + 6 + 2 + 1 : 0)
  })
}

test('deleted-channels/1: a turn that commits after the deletion of its channel leaves no row behind that names it', async (t) => {
  const store = await open(t)
  const writer = await ChannelWriter.open(store, 1)
  writer.take(message(), thing('update', 'lamp'), event('update', 'fire'))
  const drain = (deletedChannels: number) => stepsOf(store, { ...NEVER, deletedChannels }, 5)
  await store.channels.delete(A, 1_000)
  await drain(1_000)
  await writer.commit()
  await drain(1_001)
  // The record of the operations stays for whoever asks, also when their channel is gone, and the
  // block until its time is over: other channels may have updates in it.
  t.is(await rowsOf(store), 2)
})

test('deleted-channels/2: a step removes a hundred rows of one table, however many it may remove', async (t) => {
  const store = await open(t)
  const writer = await ChannelWriter.open(store, 1)
  for (let index = 0; index < 250; index += 1) writer.take(thing('create', `t${index}`))
  await writer.commit()
  await store.channels.delete(A, 1_000)
  // The first one has the places of two blocks, too, and the last one the rows of the channel.
  const steps = await stepsOf(store, { ...NEVER, deletedChannels: 1_001 }, 500)
  t.deepEqual(steps, [102, 100, 52])
})
