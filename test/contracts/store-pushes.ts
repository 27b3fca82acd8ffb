// The jobs of dispatch: who gets one, and what becomes of it and of its operation.

import test from 'ava'

import type { OperationStatus } from '#domain/operation'
import { PUSH_LIFE_MS } from '#domain/push'
import type { Store } from '#src/store/store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import {
  CLAIM_MS,
  RULES,
  Worker,
  addPushDevice,
  deferred,
  delivered,
  deviceId,
  failed,
  placesOf,
} from '#test/support/push-jobs'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const NOW = 2_000

const statusOf = async (store: Store, id: string): Promise<unknown> =>
  (await store.operations.find(opId(id)))?.status

export function pushContract(engine: string, open: OpenStore): void {
  test(`${engine}: making/1, making/3, subscriptions/2: a turn makes one job a seq and subscriber that a provider reaches`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(message({ opId: 'before' })).commit()
    await addPushDevice(store, A, 1)
    await addPushDevice(store, A, 2, 'fcm')
    await store.devices.create(deviceId(3), 'linux', 1)
    await store.subscriptions.subscribe(deviceId(3), A, 1)
    writer.take(message({ opId: 'm' }), thing('update', 'lamp', { opId: 't' }))
    t.deepEqual(await writer.commit(), { kind: 'committed', queued: [opId('m'), opId('t')] })

    const worker = new Worker(store)
    t.deepEqual(placesOf(await worker.claim(NOW)), ['token 1 2', 'token 1 3'])
    const [first] = await worker.claim(NOW, 'fcm')
    t.deepEqual(first?.entry, writer.feed[1])
    t.like(first, { provider: 'fcm', attempts: 0, expiresAt: 1_000 + PUSH_LIFE_MS })
    t.like(first?.route, { platform: 'android', token: 'token 2' })
    t.is(await statusOf(store, 'm'), 'provider_queued')
    t.is(await statusOf(store, 'before'), 'sent')
  })

  test(`${engine}: making/4: an operation in the record of its batch is queued`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    const pushed = message()
    await writer.take(pushed).commit()
    t.is((await store.operations.find(pushed.opId))?.status, 'provider_queued')
    const worker = new Worker(store)
    await worker.settle(NOW + 1, ...(await worker.claim(NOW)).map((push) => failed(push)))
    t.is((await store.operations.find(pushed.opId))?.status, 'failed')
  })

  test(`${engine}: making/2: without rules, or without such a subscriber, nothing is queued`, async (t) => {
    for (const rules of [undefined, RULES]) {
      const store = await open(t, rules)
      const writer = await ChannelWriter.open(store, 1)
      await store.devices.create(deviceId(1), 'linux', 1)
      await store.subscriptions.subscribe(deviceId(1), A, 1)
      if (rules === undefined) await addPushDevice(store, A, 2)
      t.deepEqual(await writer.take(message({ opId: 'm' })).commit(), { kind: 'committed' })
      t.is(await statusOf(store, 'm'), 'sent')
    }
  })

  test(`${engine}: flags/1: a device that changes its route after it subscribed gets jobs`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await store.devices.create(deviceId(1), 'ios', 1)
    await store.subscriptions.subscribe(deviceId(1), A, 1)
    await store.devices.setRoute(deviceId(1), 'apns', 'late')
    await writer.take(message()).commit()
    t.deepEqual(placesOf(await new Worker(store).claim(NOW)), ['late 1'])
  })

  test(`${engine}: an operation ends with its last job, by the endings of all`, async (t) => {
    const rows = [
      [[delivered, delivered], 'sent', undefined],
      [[delivered, failed], 'partially_failed', undefined],
      [[failed, failed], 'failed', 'push_failed'],
    ] as const
    for (const [[one, other], status, errorCode] of rows) {
      const store = await open(t, RULES)
      const writer = await ChannelWriter.open(store, 1)
      await addPushDevice(store, A, 1)
      await addPushDevice(store, A, 2)
      await writer.take(message({ opId: 'm' })).commit()
      const worker = new Worker(store)
      const [first, second] = await worker.claim(NOW)
      if (first === undefined || second === undefined) return t.fail('two jobs')

      t.deepEqual(await worker.settle(NOW, one(first)), {})
      t.is(await statusOf(store, 'm'), 'provider_queued')
      t.deepEqual(await worker.settle(NOW + 5, other(second)), { [status]: 1 })
      const ended = await store.operations.find(opId('m'))
      t.like(ended, { status, updatedAt: NOW + 5 })
      t.is(ended?.errorCode, errorCode)

      // settling/1 and settling/3: what comes again changes nothing.
      t.deepEqual(await worker.settle(NOW + 9, failed(first), failed(second)), {})
      t.deepEqual(await store.operations.find(opId('m')), ended)
      t.deepEqual(await worker.claim(NOW + 10 * CLAIM_MS), [])
    }
    return undefined
  })

  test(`${engine}: settling/1: a job that only marks its Thing has ended`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await addPushDevice(store, A, 2)
    await writer.take(thing('update', 'lamp', { opId: 't' })).commit()
    const worker = new Worker(store)
    const [first, second] = await worker.claim(NOW)
    if (first === undefined || second === undefined) return t.fail('two jobs')
    await worker.settle(NOW, delivered(first))
    t.deepEqual(await worker.settle(NOW, failed(first)), {})
    t.deepEqual(await worker.settle(NOW, delivered(second)), { sent: 1 })
    t.is(await statusOf(store, 't'), 'sent')
    return undefined
  })

  test(`${engine}: settling/3: an operation that has ended keeps its status`, async (t) => {
    let queued: OperationStatus = 'sent'
    const rules = {
      ...RULES,
      get queued() {
        return queued
      },
    }
    const store = await open(t, rules)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await writer.take(message({ opId: 'm' })).commit()
    queued = 'provider_queued'
    const worker = new Worker(store)
    t.deepEqual(await worker.settle(NOW, ...(await worker.claim(NOW)).map((job) => failed(job))), {
      failed: 0,
    })
    t.is(await statusOf(store, 'm'), 'sent')
  })

  test(`${engine}: claiming/1: a claim ends by time, by being given back, or at a sole start`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await writer.take(message()).commit()
    const [one, other] = [new Worker(store, 'one'), new Worker(store, 'other')]
    const [push] = await one.claim(NOW)
    if (push === undefined) return t.fail('a job')
    t.deepEqual(await other.claim(NOW + CLAIM_MS - 1), [])
    await one.pushes.renew('one', [push.id], NOW + 2 * CLAIM_MS)
    t.deepEqual(await other.claim(NOW + CLAIM_MS), [])
    await one.pushes.renew('other', [push.id], NOW)
    t.is((await other.claim(NOW + 2 * CLAIM_MS)).length, 1)
    await other.pushes.release('one', [push.id], NOW)
    t.deepEqual(await one.claim(NOW + 2 * CLAIM_MS), [])
    await other.pushes.release('other', [push.id], NOW)
    t.is((await one.claim(NOW)).length, 1)
    await other.pushes.releaseAll(NOW)
    t.is((await other.claim(NOW)).length, 1)
    return undefined
  })

  test(`${engine}: claiming/1: each job goes to one of many workers that claim at once`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    for (let number = 1; number <= 8; number += 1) await addPushDevice(store, A, number)
    for (let index = 0; index < 10; index += 1) writer.take(message())
    await writer.commit()
    const workers = Array.from({ length: 8 }, (_, index) => new Worker(store, `w${index}`))
    const seen: number[] = []
    for (let nowMs = NOW; seen.length < 80; nowMs += 200) {
      const claims = await Promise.all(workers.map((worker) => worker.claim(nowMs, 'apns', 7)))
      for (const [index, pushes] of claims.entries()) {
        seen.push(...pushes.map(({ id }) => id))
        await workers[index]?.settle(nowMs, ...pushes.map(delivered))
      }
      if (nowMs > NOW + CLAIM_MS) return t.fail(`only ${seen.length} jobs`)
    }
    t.is(new Set(seen).size, 80)
    return undefined
  })

  test(`${engine}: a deferred job is due at its time and remembers its attempts`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    const device = await addPushDevice(store, A, 1)
    await writer.take(message()).commit()
    const worker = new Worker(store)
    const [push] = await worker.claim(NOW)
    if (push === undefined) return t.fail('a job')
    await new Worker(store, 'other').settle(NOW, deferred(push, NOW + 1))
    t.is((await worker.claimAll(NOW + 1)).nextDueMs, NOW + CLAIM_MS, 'the claim is another one’s')
    await worker.settle(NOW, deferred(push, NOW + 700))
    t.deepEqual(await worker.claimAll(NOW + 699), {
      pushes: [],
      expired: 0,
      superseded: 0,
      unreadable: 0,
      filtered: 0,
      ended: {},
      hasMore: false,
      nextDueMs: NOW + 700,
    })
    const [again] = await worker.claim(NOW + 700)
    t.is(again?.attempts, 1)
    if (again === undefined) return undefined
    await worker.settle(NOW, deferred(again, NOW + 800, false))
    await store.devices.setRoute(device, 'apns', 'newer')
    const [rerouted] = await worker.claim(NOW + 800)
    t.like(rerouted, { attempts: 0 })
    t.is(rerouted?.route.token, 'newer')
    return undefined
  })

  test(`${engine}: a token that is gone is retired once, and no newer one with it`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    const device = await addPushDevice(store, A, 1)
    await writer.take(message(), message()).commit()
    const worker = new Worker(store)
    const [first, second] = await worker.claim(NOW)
    if (first === undefined || second === undefined) return t.fail('two jobs')
    await store.devices.setRoute(device, 'apns', 'newer')
    await worker.settle(NOW, failed(first, true))
    t.is((await store.devices.find(device))?.providerToken, 'newer')

    const [again] = await new Worker(store, 'other').claim(NOW + CLAIM_MS)
    if (again === undefined) return t.fail('the second job')
    t.is(again.id, second.id)
    await worker.settle(NOW, failed(again, true))
    t.is((await store.devices.find(device))?.channelType, 'private')
    await store.devices.setRoute(device, 'apns', 'newer')
    await worker.settle(NOW, failed(again, true))
    t.is((await store.devices.find(device))?.channelType, 'apns')
    return undefined
  })

  test(`${engine}: an expired or unreachable push is not sent and no failure`, async (t) => {
    const changes = [
      (store: Store) => store.devices.setRoute(deviceId(1), 'private', undefined),
      (store: Store) => store.devices.remove(deviceId(1)),
      (store: Store) => store.subscriptions.unsubscribe(deviceId(1), A, 1),
      (store: Store) => store.channels.delete(A, 5),
    ]
    for (const change of changes) {
      const store = await open(t, RULES)
      const writer = await ChannelWriter.open(store, 1)
      await addPushDevice(store, A, 1)
      await writer.take(message({ opId: 'm' })).commit()
      await change(store)
      const claimed = await new Worker(store).claimAll(NOW)
      t.like(claimed, { pushes: [], superseded: 1, expired: 0, ended: { sent: 1 } })
      t.is(await statusOf(store, 'm'), 'sent')
    }
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await writer.take(message({ opId: 'm', fields: { ttl: NOW } })).commit()
    const claimed = await new Worker(store).claimAll(NOW)
    t.like(claimed, { pushes: [], superseded: 0, expired: 1, ended: { sent: 1 } })
  })

  test(`${engine}: a push of an entry without a title has the title of its Event or Thing`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    writer.take(thing('update', 'lamp', { fields: { title: 'Hall lamp' } }))
    writer.take(event('create', 'fire', { fields: { title: 'Fire!' } }))
    await writer.commit()
    await addPushDevice(store, A, 1)
    writer.take(thing('update', 'lamp', { at: 2, attrs: { on: true } }))
    writer.take(event('update', 'fire', { at: 2, fields: { status: 'out' } }))
    writer.take(thing('update', 'bare', { at: 2, attrs: { on: true } }))
    writer.take(thing('update', 'own', { at: 2, fields: { title: 'Own' } }))
    await writer.commit()
    const titles = (await new Worker(store).claim(NOW)).map(({ entityTitle }) => entityTitle)
    t.deepEqual(titles, ['Hall lamp', 'Fire!', undefined, undefined])
  })

  test(`${engine}: the backlog gives the number of waiting jobs and the time of the oldest`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await writer.take(message({ acceptedAt: 700 }), message({ acceptedAt: 900 })).commit()
    const { pushes } = new Worker(store)
    t.deepEqual(await pushes.backlog('apns'), { jobs: 2, oldestDueMs: 700 })
    t.deepEqual(await pushes.backlog('fcm'), { jobs: 0, oldestDueMs: undefined })
  })
}
