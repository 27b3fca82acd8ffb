// Subscriptions: the limit, and where a device stands.

import test from 'ava'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import type { Store } from '#src/store/store'
import { ChannelWriter, newChannel } from '#test/support/store-writer'
import { channel, message } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const B = channel(2)
const C = channel(3)

async function withDevices(store: Store, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    await store.devices.create(device(number), 'linux', 1)
  }
}

export function subscriptionContract(engine: string, open: OpenStore): void {
  test(`${engine}: a subscription is new once and needs its channel and its device`, async (t) => {
    const store = await open(t)
    const { subscriptions, channels } = store
    await channels.create(newChannel(A))
    await withDevices(store, 1)
    const subscribed = { kind: 'subscribed', channelName: 'a channel' }
    t.deepEqual(await subscriptions.subscribe(device(1), B, 1), { kind: 'no-channel' })
    t.deepEqual(await subscriptions.subscribe(device(2), A, 1), { kind: 'no-device' })
    t.is(await subscriptions.subscribed(device(1), A), undefined)
    t.deepEqual(await subscriptions.subscribe(device(1), A, 1), { ...subscribed, isNew: true })
    t.deepEqual(await subscriptions.subscribe(device(1), A, 2), { ...subscribed, isNew: false })
    t.deepEqual(await subscriptions.subscribed(device(1), A), {})
    await store.devices.setLabel(device(1), "Anna's phone")
    t.deepEqual(await subscriptions.subscribed(device(1), A), { label: "Anna's phone" })
    t.true(await subscriptions.unsubscribe(device(1), A, 1))
    t.false(await subscriptions.unsubscribe(device(1), A, 1))
    t.false(await subscriptions.unsubscribe(device(9), A, 1))
    t.is(await subscriptions.subscribed(device(1), A), undefined)
  })

  test(`${engine}: subscriptions/1: 32 of a hundred devices that come at once are subscribed`, async (t) => {
    const store = await open(t)
    const { subscriptions, channels } = store
    await channels.create(newChannel(A))
    await withDevices(store, 100)
    const attempts = Array.from({ length: 100 }, (_, index) =>
      subscriptions.subscribe(device(index + 1), A, 1),
    )
    const kinds = (await Promise.all(attempts)).map(({ kind }) => kind)
    t.is(kinds.filter((kind) => kind === 'subscribed').length, SUBSCRIBERS_MAX)
    t.is(kinds.filter((kind) => kind === 'full').length, 100 - SUBSCRIBERS_MAX)
    t.is((await channels.info(A))?.subscribers, SUBSCRIBERS_MAX)
  })

  test(`${engine}: a full channel takes one when another leaves`, async (t) => {
    const store = await open(t)
    const { subscriptions, channels } = store
    await channels.create(newChannel(A))
    await withDevices(store, SUBSCRIBERS_MAX + 1)
    for (let number = 1; number <= SUBSCRIBERS_MAX; number += 1) {
      await subscriptions.subscribe(device(number), A, 1)
    }
    const last = device(SUBSCRIBERS_MAX + 1)
    t.deepEqual(await subscriptions.subscribe(last, A, 1), { kind: 'full' })
    t.like(await subscriptions.subscribe(device(1), A, 1), { kind: 'subscribed', isNew: false })
    await subscriptions.unsubscribe(device(2), A, 1)
    t.like(await subscriptions.subscribe(last, A, 1), { kind: 'subscribed', isNew: true })
  })

  test(`${engine}: the devices of a channel are listed in the order in which they came`, async (t) => {
    const store = await open(t)
    const { subscriptions, channels, devices } = store
    for (const id of [A, B]) await channels.create(newChannel(id))
    await withDevices(store, 3)
    await devices.setRoute(device(2), 'fcm', 'token')
    await subscriptions.subscribe(device(2), A, 5)
    await subscriptions.subscribe(device(1), A, 7)
    await subscriptions.subscribe(device(3), B, 6)
    await devices.seen([device(1)], 7 + 86_400_000)
    const facts = { platform: 'linux', channelType: 'private' } as const
    t.deepEqual(await subscriptions.subscribers(A), [
      { ...facts, deviceId: device(2), channelType: 'fcm', subscribedAt: 5, seenAt: 5 },
      { ...facts, deviceId: device(1), subscribedAt: 7, seenAt: 7 + 86_400_000 },
    ])
    t.deepEqual(await subscriptions.subscribers(C), [])
  })

  test(`${engine}: a subscription begins at the head of that moment`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await withDevices(store, 2)
    await writer.take(message(), message()).commit()
    await store.subscriptions.subscribe(device(1), A, 1)
    await writer.take(message()).commit()
    const position = {
      channelId: A,
      channelName: 'a channel',
      headSeq: 3,
      sinceSeq: 2,
      ackedSeq: 0,
    }
    t.deepEqual(await store.subscriptions.position(device(1), A), position)
    t.is(await store.subscriptions.position(device(2), A), undefined)
    t.is(await store.subscriptions.position(device(1), B), undefined)

    await store.subscriptions.subscribe(device(1), A, 2)
    t.deepEqual(await store.subscriptions.positions(device(1)), [position])
  })

  test(`${engine}: positions are in the order of channel_id`, async (t) => {
    const store = await open(t)
    await withDevices(store, 1)
    for (const channelId of [C, A, B]) {
      await store.channels.create(newChannel(channelId))
      await store.subscriptions.subscribe(device(1), channelId, 1)
    }
    const positions = await store.subscriptions.positions(device(1))
    t.deepEqual(
      positions.map(({ channelId }) => channelId),
      [A, B, C].toSorted(),
    )
  })

  test(`${engine}: a synchronised device leaves the channels that are not listed`, async (t) => {
    const store = await open(t)
    await withDevices(store, 2)
    for (const channelId of [A, B, C]) {
      await store.channels.create(newChannel(channelId))
      await store.subscriptions.subscribe(device(1), channelId, 1)
      await store.subscriptions.subscribe(device(2), channelId, 1)
    }
    t.deepEqual(await store.subscriptions.keepOnly(device(1), [B, channel(9)], 1), [A, C])
    t.deepEqual(await store.subscriptions.keepOnly(device(1), [B], 1), [])
    t.deepEqual(
      (await store.subscriptions.positions(device(1))).map(({ channelId }) => channelId),
      [B],
    )
    t.is((await store.subscriptions.positions(device(2))).length, 3)
    t.deepEqual(await store.subscriptions.keepOnly(device(9), [], 1), [])
  })
}
