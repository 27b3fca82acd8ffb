// Devices and channels that nobody uses go; whatever is in use stays.

import test from 'ava'

import type { IdleLimits } from '#domain/retention-ports'
import type { Store } from '#src/store/store'
import { ChannelWriter, newChannel } from '#test/support/store-writer'
import { channel, event, message, thing } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'

const DAY = 86_400_000
/** Days beyond the first in which channels of these tests are made. */
const NOW = 1_000 * DAY
const A = channel(1)
const NEVER: IdleLimits = { neverSubscribed: 0, devices: 0, channels: 0, nowMs: NOW }

const devicesOf = async (store: Store, ...numbers: readonly number[]): Promise<string> => {
  const found = await Promise.all(numbers.map((number) => store.devices.find(device(number))))
  return numbers.filter((_, index) => found[index] !== undefined).join(' ')
}

const register = async (store: Store, ...numbers: readonly number[]): Promise<void> => {
  for (const number of numbers) await store.devices.create(device(number), 'linux', NOW)
}

export function idleContract(engine: string, open: OpenStore): void {
  test(`${engine}: idle/1: a device that never subscribed goes by its registration`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    await register(store, 1, 2)
    await store.subscriptions.subscribe(device(2), A, NOW)
    await store.devices.seen([device(1)], NOW + DAY)
    const limits = { ...NEVER, nowMs: NOW + 2 * DAY }
    const expire = (neverSubscribed: number) =>
      store.retention.expire({ ...limits, neverSubscribed }, 9)
    t.is((await expire(NOW)).devices, 0)
    t.is((await expire(NOW + 1)).devices, 1)
    t.is(await devicesOf(store, 1, 2), '2')
  })

  test(`${engine}: idle/1: a device goes once it was not seen for long, never with a subscription`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    await register(store, 1, 2, 3, 4)
    for (const number of [1, 2, 3, 4]) {
      await store.subscriptions.subscribe(device(number), A, NOW)
    }
    for (const number of [1, 2, 3]) {
      await store.subscriptions.unsubscribe(device(number), A, NOW + 10 * DAY)
    }
    await store.devices.seen([device(2)], NOW + 20 * DAY)
    // Seen again on the same day: written once.
    await store.devices.seen([device(2)], NOW + 20 * DAY + 3_600_000)
    await store.subscriptions.keepOnly(device(3), [], NOW + 30 * DAY)
    const rows: readonly (readonly [seenBefore: number, rest: string])[] = [
      [NOW + 10 * DAY, '1 2 3 4'],
      [NOW + 10 * DAY + 1, '2 3 4'],
      [NOW + 20 * DAY, '2 3 4'],
      [NOW + 20 * DAY + 1, '3 4'],
      [NOW + 30 * DAY, '3 4'],
      [NOW + 30 * DAY + 1, '4'],
    ]
    for (const [devices, rest] of rows) {
      await store.retention.expire({ ...NEVER, devices, nowMs: devices }, 9)
      t.is(await devicesOf(store, 1, 2, 3, 4), rest, `${devices - NOW}`)
    }
    t.is((await store.channels.info(A))?.subscribers, 1)
  })

  test(`${engine}: idle/1: the time without a subscription begins when its channel is deleted`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    await register(store, 1)
    await store.subscriptions.subscribe(device(1), A, NOW)
    await store.channels.delete(A, NOW + 50 * DAY)
    const expire = (devices: number) => store.retention.expire({ ...NEVER, devices }, 9)
    t.is((await expire(NOW + 50 * DAY)).devices, 0)
    t.is((await expire(NOW + 50 * DAY + 1)).devices, 1)
  })

  test(`${engine}: idle/3: devices and channels in use are checked seldom, and delay nobody`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    await register(store, 1, 2, 3)
    for (const number of [1, 2, 3]) {
      await store.subscriptions.subscribe(device(number), A, NOW + number)
    }
    await store.subscriptions.unsubscribe(device(3), A, NOW + 3)
    const limits = { ...NEVER, devices: NOW + 4, channels: NOW + 4, nowMs: NOW + 90 * DAY }
    const removed: number[] = []
    for (let step = 0; step < 4; step += 1) {
      removed.push((await store.retention.expire(limits, 1)).devices)
    }
    t.deepEqual(removed, [0, 0, 1, 0])
    t.is(await devicesOf(store, 1, 2, 3), '1 2')
  })

  test(`${engine}: idle/2: a channel that was never used goes by its age`, async (t) => {
    const store = await open(t)
    await store.channels.create({ ...newChannel(A), createdAt: NOW })
    const expire = (channels: number) => store.retention.expire({ ...NEVER, channels }, 9)
    t.deepEqual((await expire(NOW)).channels, [])
    t.deepEqual((await expire(NOW + 1)).channels, [A])
    t.is(await store.channels.credentials(A), undefined)
    t.deepEqual((await expire(NOW + 2)).channels, [])
  })

  test(`${engine}: idle/2: a channel with subscribers, Things or open Events stays`, async (t) => {
    const store = await open(t)
    const names = ['subscribed', 'thing', 'event', 'message', 'deleted', 'nothing']
    const writers = await Promise.all(names.map((_, at) => ChannelWriter.open(store, at + 1)))
    const [, ofThing, ofEvent, ofMessage, ofDeleted] = writers
    await register(store, 1)
    await store.subscriptions.subscribe(device(1), A, NOW)
    await ofThing?.take(thing('archive', 'lamp')).commit()
    await ofEvent?.take(event('update', 'fire')).commit()
    await ofMessage?.take(message()).commit()
    await ofDeleted?.take(thing('delete', 'lamp'), event('close', 'fire')).commit()
    const gone: (readonly string[])[] = []
    for (const day of [1, 91, 181, 271]) {
      const nowMs = NOW + day * DAY
      const { channels } = await store.retention.expire({ ...NEVER, channels: nowMs, nowMs }, 9)
      gone.push(
        names.filter((_, at) => channels.some((channelId) => channelId === channel(at + 1))),
      )
    }
    // Retention looks twice at a channel that was written to: only then is it known that nothing came since.
    t.deepEqual(gone, [['nothing'], ['message', 'deleted'], [], []])
  })

  test(`${engine}: idle/2: a subscription that came and went counts as use`, async (t) => {
    const store = await open(t)
    await store.channels.create({ ...newChannel(A), createdAt: NOW })
    await register(store, 1)
    await store.subscriptions.subscribe(device(1), A, NOW + 10)
    await store.subscriptions.unsubscribe(device(1), A, NOW + 20)
    const first = { ...NEVER, channels: NOW + 1, nowMs: NOW + 90 * DAY }
    t.deepEqual((await store.retention.expire(first, 9)).channels, [])
    t.deepEqual((await store.retention.expire(first, 9)).channels, [])
    const second = { ...first, channels: NOW + 90 * DAY + 1 }
    t.deepEqual((await store.retention.expire(second, 9)).channels, [A])
  })
}
