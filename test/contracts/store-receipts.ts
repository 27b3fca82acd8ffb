// Who got an entry, as positions and jobs of pushes tell it.

import test from 'ava'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import type { Store } from '#src/store/store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, thing } from '#test/support/submissions'
import {
  RULES,
  Worker,
  addPushDevice,
  delivered,
  deviceId,
  failed,
  placesOf,
} from '#test/support/push-jobs'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const NOW = 2_000
const { providers } = RULES

/** `number state` of each subscriber. */
async function statesOf(store: Store, entityId: string): Promise<readonly string[]> {
  const found = await store.read.receipts({ channelId: A, entityId, providers })
  return (found?.subscribers ?? []).map(
    ({ deviceId: id, state }) => `${Number.parseInt(id, 16)} ${state}`,
  )
}

export function receiptContract(engine: string, open: OpenStore): void {
  test(`${engine}: each subscriber of an entry is in the state that its position and its push tell`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await store.devices.create(deviceId(1), 'linux', 1, 'Kitchen')
    await store.subscriptions.subscribe(deviceId(1), A, 1, { min_severity: 'critical' })
    for (const number of [2, 3, 4, 5, 6, 7]) await addPushDevice(store, A, number)
    await store.subscriptions.setPreferences(deviceId(5), A, { min_severity: 'high' })
    await addPushDevice(store, A, 8, 'webpush')
    const sent = message()
    await writer.take(sent).commit()
    await addPushDevice(store, A, 9)
    const worker = new Worker(store)
    const pushes = await worker.claim(NOW)
    const pushTo = (number: number) => {
      const found = pushes.find(({ route }) => route.token === `token ${number}`)
      if (found === undefined) throw new Error(`no push to ${number}`)
      return found
    }
    await worker.settle(NOW, delivered(pushTo(2)), failed(pushTo(3)), failed(pushTo(4), true))
    const { length } = pushes
    t.like(await store.pushes.backlog('apns'), { jobs: length - 3 }, 'three have ended')
    await store.subscriptions.acknowledge([{ deviceId: deviceId(6), channelId: A, seq: 1 }])
    const expected = [
      '1 waiting',
      '2 pushed',
      '3 failed',
      '4 failed',
      '5 filtered',
      '6 acknowledged',
      '7 waiting',
      '8 waiting',
      '9 later',
    ]
    t.deepEqual(await statesOf(store, sent.entityId), expected)

    const { opId, entityId, acceptedAt } = sent
    const operation = { opId, acceptedAt }
    const found = await store.read.receipts({ channelId: A, entityId, operation, providers })
    t.deepEqual(found?.entry, writer.feed[0])
    t.like(found?.subscribers[0], { label: 'Kitchen', platform: 'linux', channelType: 'private' })
    const [first, second] = await store.subscriptions.subscribers(A)
    t.is(first?.label, 'Kitchen')
    t.false('label' in (second ?? {}))
    await store.devices.setLabel(deviceId(1), 'Hall')
    t.is((await store.subscriptions.subscribers(A))[0]?.label, 'Hall')

    // A single acknowledgement ahead of the position counts, and so does a later position.
    await writer.take(message()).commit()
    await writer.take(message({ opId: 'third' })).commit()
    await store.subscriptions.acknowledgeEntries(deviceId(7), [{ channelId: A, seq: 3 }])
    await store.subscriptions.acknowledge([{ deviceId: deviceId(2), channelId: A, seq: 3 }])
    t.deepEqual((await statesOf(store, entityId)).slice(0, 2), ['1 waiting', '2 acknowledged'])
    const third = writer.feed[2]?.entityId ?? ''
    t.like(await statesOf(store, third), { 6: '7 acknowledged' })
  })

  test(`${engine}: receipts are those of the newest entry of an entity, and of no other channel`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    const fields = { title: 'hot', severity: 'low' }
    const first = thing('create', 'lamp')
    await writer.take(first, event('create', 'e', { fields })).commit()
    await writer.take(thing('update', 'lamp'), event('update', 'e', { fields })).commit()
    const seqOf = async (entityId: string, channelId = A): Promise<number | undefined> =>
      (await store.read.receipts({ channelId, entityId, providers }))?.entry.seq
    const newest = (model: string) => writer.feed.findLast((entry) => entry.model === model)?.seq
    t.is(await seqOf('lamp'), newest('thing'))
    t.is(await seqOf('e'), newest('event'))
    t.is(await seqOf('none'), undefined)
    t.is(await seqOf('lamp', channel(2)), undefined)
    const { opId, acceptedAt } = first
    const of = { channelId: A, entityId: 'lamp', operation: { opId, acceptedAt }, providers }
    t.is((await store.read.receipts(of))?.entry.seq, 1)
  })

  test(`${engine}: a device that wants what has escalated gets a push of an Event from then on, and so its receipts say`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await store.subscriptions.setPreferences(deviceId(1), A, { level: 2 })
    const escalate = [{ after: '1m', level: 2 }]
    await writer.take(event('create', 'e', { fields: { title: 'hot', escalate } })).commit()
    t.deepEqual(await statesOf(store, 'e'), ['1 filtered'])
    const worker = new Worker(store)
    t.like(await worker.claimAll(NOW), { pushes: [], filtered: 1 })
    const dueAt = NOW + 60_000
    await writer
      .pass('e', dueAt)
      .take(event('update', 'e', { at: 9 }))
      .commit()
    const { pushes, filtered } = await worker.claimAll(dueAt)
    t.deepEqual(placesOf(pushes), ['token 1 2', 'token 1 3'])
    t.is(filtered, 0)
    t.deepEqual(await statesOf(store, 'e'), ['1 waiting'])
    await worker.settle(dueAt, ...pushes.map((push) => delivered(push)))
    t.deepEqual(await statesOf(store, 'e'), ['1 pushed'])
  })

  test(`${engine}: a channel has receipts of all its subscribers`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    for (let number = 1; number <= SUBSCRIBERS_MAX; number += 1) {
      await addPushDevice(store, A, number)
    }
    const sent = message()
    await writer.take(sent).commit()
    t.is((await statesOf(store, sent.entityId)).length, SUBSCRIBERS_MAX)
  })
}
