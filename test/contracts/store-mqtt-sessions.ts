// MQTT sessions that outlive their connection: whose they are, what they remember, when they end.

import test from 'ava'

import type { EnteredSession, Exchange, MqttEntry } from '#domain/mqtt/sessions'
import type { IdleLimits } from '#domain/retention-ports'
import { operationIdFrom } from '#domain/identity'
import type { Store } from '#src/store/store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const NOW = 1_000_000
const deviceId = device(1)
const NEVER: IdleLimits = { neverSubscribed: 0, devices: 0, channels: 0, nowMs: NOW }

const entering = (store: Store, more: Partial<MqttEntry> = {}): Promise<EnteredSession> =>
  store.mqttSessions.enter({
    deviceId,
    channelId: A,
    keyId: '',
    expiresAt: undefined,
    isClean: false,
    isKept: true,
    nowMs: NOW,
    ...more,
  })

const exchange = (slot: number, packetId = slot + 1): Exchange => ({
  slot,
  packetId,
  opId: operationIdFrom(packetId, 'f'.repeat(32)),
  digest: 'd'.repeat(32),
  qos: 2,
})

export function mqttSessionContract(engine: string, open: OpenStore): void {
  test(`${engine}: a kept session goes on with what it had, and a clean one forgets it`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    const first = await entering(store)
    t.deepEqual(first, {
      number: NOW,
      kept: { isPresent: false, subscriptions: '[]', exchanges: [] },
    })
    const owner = { deviceId, number: first.number }
    t.true(await store.mqttSessions.subscribe(owner, '["a"]'))
    t.true(await store.mqttSessions.record(owner, [exchange(0), exchange(1)]))
    t.true(await store.mqttSessions.record(owner, [exchange(1, 9)]))
    await store.subscriptions.subscribe(deviceId, A, NOW)
    t.deepEqual(await entering(store), {
      number: NOW + 1,
      kept: { isPresent: true, subscriptions: '["a"]', exchanges: [exchange(0), exchange(1, 9)] },
    })
    t.deepEqual((await entering(store, { isClean: true })).kept, {
      isPresent: false,
      subscriptions: '[]',
      exchanges: [],
    })
    t.is(await store.subscriptions.subscribed(deviceId, A), undefined)
    t.is((await entering(store, { isClean: true, isKept: false })).kept, undefined)
    t.is(await store.devices.find(deviceId), undefined)
    t.is((await entering(store, { isKept: false })).kept, undefined)
  })

  test(`${engine}: mqtt-sessions/1: a connection writes nothing once a newer one has entered`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    const [older, newer] = await Promise.all([entering(store), entering(store)])
    t.not(older.number, newer.number)
    const owner = { deviceId, number: Math.min(older.number, newer.number) }
    t.false(await store.mqttSessions.subscribe(owner, '["a"]'))
    t.false(await store.mqttSessions.record(owner, [exchange(0)]))
    await store.mqttSessions.leave(owner, NOW)
    t.deepEqual((await entering(store, { nowMs: NOW + 1 })).kept, {
      isPresent: true,
      subscriptions: '[]',
      exchanges: [],
    })
  })

  test(`${engine}: mqtt-sessions/2: a crowd from two nodes waits for nobody, and each gets its own`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    const ids = Array.from({ length: 40 }, (_, at) => device(at + 1))
    const all = [...ids, ...ids.toReversed()]
    const entered = await Promise.all(all.map((one) => entering(store, { deviceId: one })))
    for (const [at, one] of ids.entries()) {
      const numbers = [entered[at]?.number, entered[all.length - 1 - at]?.number]
      t.deepEqual(new Set(numbers), new Set([NOW, NOW + 1]))
      const owner = { deviceId: one, number: NOW + 1 }
      t.true(await store.mqttSessions.record(owner, [exchange(0, at + 1)]))
    }
    for (const [at, one] of ids.entries()) {
      const { kept } = await entering(store, { deviceId: one })
      t.is(kept?.exchanges[0]?.packetId, at + 1)
    }
  })

  test(`${engine}: a session ends at its time, and is removed with all that it had`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    const { number } = await entering(store)
    await store.mqttSessions.record({ deviceId, number }, [exchange(0)])
    await store.subscriptions.subscribe(deviceId, A, NOW)
    await store.mqttSessions.leave({ deviceId, number }, NOW + 10)
    const expire = (nowMs: number, devices = 0) =>
      store.retention.expire({ ...NEVER, nowMs, devices }, 9)
    t.is((await expire(NOW + 10)).devices, 0)
    t.true((await entering(store, { nowMs: NOW + 9 })).kept?.isPresent)
    await store.mqttSessions.leave({ deviceId, number: number + 9 }, NOW + 10)
    t.false((await entering(store, { nowMs: NOW + 10 })).kept?.isPresent)
    await store.mqttSessions.leave({ deviceId, number: number + 10 }, NOW + 20)
    t.is((await expire(NOW + 21)).devices, 1)
    t.is((await store.channels.info(A))?.subscribers, 0)
  })

  test(`${engine}: idle/1: a kept session that nobody uses goes, also with a subscription`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    await entering(store)
    await store.subscriptions.subscribe(deviceId, A, NOW)
    const limits = { ...NEVER, nowMs: NOW + 100 }
    t.is((await store.retention.expire({ ...limits, devices: NOW }, 9)).devices, 0)
    t.is((await store.retention.expire({ ...limits, devices: NOW + 1 }, 9)).devices, 1)
    t.is((await store.channels.info(A))?.subscribers, 0)
  })
}
