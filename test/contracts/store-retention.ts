// Retention: small steps, the right rows, nothing that is still wanted.

import test from 'ava'

import type { RetentionLimits } from '#domain/retention-ports'
import type { Store } from '#src/store/store'
import { joinAll } from '#test/support/joined'
import { pageFrom } from '#test/support/feed-reader'
import { EVERYTHING, NEVER, limitsOf } from '#test/support/retention-limits'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'
import { stepsOf } from '#test/support/retired'

const A = channel(1)

const drain = (store: Store, limits: RetentionLimits, maxRows = 100) =>
  stepsOf(store, limits, maxRows)

const seqsOf = async (store: Store): Promise<readonly number[]> =>
  (await store.read.history({ channelId: A, limit: 200 })).items.map(({ seq }) => seq)

const CLAIM = {
  channelId: A,
  thingId: '',
  contentHash: 'a'.repeat(64),
  messageId: message().entityId,
}

export function retentionContract(engine: string, open: OpenStore): void {
  test(`${engine}: nothing is removed before its time`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    writer.take(message(), thing('delete', 'lamp'), event('close', 'fire'))
    await writer.commit()
    t.deepEqual(await drain(store, NEVER), [])
    t.deepEqual(await drain(store, limitsOf(1000)), [])
    t.deepEqual(await seqsOf(store), [1, 2, 3])
  })

  test(`${engine}: each limit removes its own kind`, async (t) => {
    const rows: [limit: keyof RetentionLimits, rest: string][] = [
      ['operations', 'message event thing lamp fire door'],
      ['messagesAndEvents', 'operation thing lamp fire door'],
      ['thingUpdates', 'operation message event lamp fire door'],
      ['tombstones', 'operation message event thing lamp'],
    ]
    for (const [limit, rest] of rows) {
      const store = await open(t)
      const writer = await ChannelWriter.open(store, 1)
      writer.take(message({ opId: 'sent' }), event('close', 'fire'))
      await writer.take(thing('update', 'lamp'), thing('delete', 'door')).commit()
      await joinAll(store)
      await drain(store, { ...NEVER, [limit]: 1001 })

      const { items } = await store.read.history({ channelId: A, limit: 200 })
      const kept = [
        (await store.operations.find(opId('sent'))) && 'operation',
        ...['message', 'event', 'thing'].filter((kind) =>
          items.some(({ model }) => model === kind),
        ),
        (await store.read.thing(A, 'lamp')) && 'lamp',
        (await store.read.event(A, 'fire')) && 'fire',
        (await store.read.thing(A, 'door')) && 'door',
      ]
      t.is(kept.filter((name) => name !== undefined).join(' '), rest, limit)
    }
  })

  test(`${engine}: retention/1: a step removes a bounded number of rows, and all are gone in the end`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    for (let count = 0; count < 40; count += 1) {
      writer.take(message(), thing('update', `t${count}`), event('close', `e${count}`))
      writer.take(thing('delete', `t${count}`, { at: 2 }))
      const claim = { ...CLAIM, opId: opId(`claim-${count}`), claimedAt: 1 }
      await store.operations.claim(claim, 0)
    }
    await writer.commit()
    await joinAll(store)
    const steps = await drain(store, EVERYTHING, 10)
    t.true(steps.every((removed) => removed <= 10))
    t.is(
      steps.reduce((sum, removed) => sum + removed),
      // Records of 128 operations, claims, Messages and Events, a block with its place,
      // tombstones with their Things and Events, and what tiers have to forget of the Things.
      2 + 40 + 80 + 2 + 160 + 40,
    )
    t.deepEqual(await seqsOf(store), [])
    t.deepEqual(await store.read.things({ channelId: A, limit: 9 }), { items: [] })
    t.deepEqual(await store.read.events({ channelId: A, limit: 9 }), { items: [] })
  })

  test(`${engine}: retention/3: a claim goes together with its operation`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const claim = { ...CLAIM, opId: opId('order-1'), claimedAt: 900 }
    await store.operations.claim(claim, 0)
    await writer.take(message({ opId: 'order-1', claims: true, acceptedAt: 950 })).commit()
    await drain(store, { ...NEVER, operations: 901 })
    t.is(await store.operations.find(opId('order-1')), undefined)
    t.deepEqual(await store.operations.claim({ ...claim, claimedAt: 2_000 }, 901), {
      kind: 'fresh',
    })
  })

  test(`${engine}: a Thing that lives again keeps its row`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('delete', 'lamp', { acceptedAt: 1 })).commit()
    // Beyond the life of an end (1,000,000 ms) the id is free again.
    const acceptedAt = 1_500_000
    await writer.take(thing('update', 'lamp', { at: 2, acceptedAt })).commit()
    await drain(store, { ...NEVER, tombstones: 1_000_000 })
    t.is((await store.read.thing(A, 'lamp'))?.state, 'active')
    const page = await pageFrom(store, { channelId: A, afterSeq: 1, sinceSeq: 0, limit: 9 })
    t.is(page.gap, undefined)
  })

  test(`${engine}: dead letters live as long as operations`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const letter = { lane: 1, position: 1, payload: '{}', error: 'broken' }
    writer.deadLetters.push({ ...letter, index: 0, at: 1000 }, { ...letter, index: 1, at: 1001 })
    await writer.commit()
    t.deepEqual(await drain(store, { ...NEVER, operations: 1001 }), [1])
    t.deepEqual(await drain(store, { ...NEVER, operations: 1002 }), [1])
  })

  test(`${engine}: a deleted channel is emptied step by step, its neighbour stays`, async (t) => {
    const store = await open(t)
    await store.devices.create(device(1), 'linux', 1)
    const writers = [await ChannelWriter.open(store, 1), await ChannelWriter.open(store, 2)]
    for (const writer of writers) {
      for (let count = 0; count < 10; count += 1) {
        writer.take(message(), thing('update', `t${count}`), event('update', `e${count}`))
      }
      await writer.commit()
      await store.subscriptions.subscribe(device(1), writer.channelId, 1)
    }
    await store.mappings.put(A, '[]')
    await store.channels.delete(A, 1000)
    t.deepEqual(await drain(store, { ...NEVER, deletedChannels: 1000 }, 9), [])
    const steps = await drain(store, { ...NEVER, deletedChannels: 1001 }, 9)
    t.true(steps.every((removed) => removed <= 9))
    // Twenty entries, a place, twenty entities, its mappings, the two rows of the channel itself.
    t.is(
      steps.reduce((sum, removed) => sum + removed),
      44,
    )
    t.deepEqual(await store.channels.info(channel(2)), {
      channelId: channel(2),
      channelName: 'a channel',
      createdAt: 500,
      headSeq: 30,
      things: 10,
      openEvents: 10,
      subscribers: 1,
    })
  })
}
