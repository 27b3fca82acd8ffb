// Which pushes the preferences of a subscription leave out, and which make no sound.

import test from 'ava'

import type { Preferences } from '#domain/push/preferences'
import type { Store } from '#src/store/store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import { RULES, Worker, addPushDevice, deviceId, failed, placesOf } from '#test/support/push-jobs'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
/** 23:00 in UTC. */
const NIGHT = Date.parse('1970-01-01T23:00Z')
const QUIET = [{ from: '22:00', to: '07:00', time_zone: 'UTC', unless: 'critical' as const }]

const prefer = (store: Store, notify: Preferences, number = 1, channelId = A) =>
  store.subscriptions.setPreferences(deviceId(number), channelId, notify)

export function preferenceContract(engine: string, open: OpenStore): void {
  test(`${engine}: a push that preferences leave out ends its operation as if there were no such device`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await addPushDevice(store, A, 2)
    t.true(await prefer(store, { min_severity: 'high' }))
    writer.take(message({ opId: 'm', fields: { title: 'a', severity: 'normal' } }))
    await writer.commit()
    const worker = new Worker(store)
    const { pushes, filtered } = await worker.claimAll(NIGHT)
    t.deepEqual([placesOf(pushes), filtered], [['token 2 1'], 1])
    await worker.settle(NIGHT, ...pushes.map((push) => failed(push)))
    t.like(await store.operations.find(opId('m')), { status: 'failed' })

    await prefer(store, { models: ['event'] }, 2)
    await writer.take(message({ opId: 'n', fields: { title: 'a' } })).commit()
    t.like(await worker.claimAll(NIGHT), { pushes: [], filtered: 2, ended: { sent: 1 } })
  })

  test(`${engine}: within quiet hours a push is passive unless its severity is high enough`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await addPushDevice(store, A, 2)
    await prefer(store, { quiet: QUIET })
    writer.take(
      message({ fields: { title: 'a', severity: 'high' } }),
      message({ fields: { title: 'b', severity: 'critical' } }),
      thing('update', 'lamp'),
      event('create', 'fire', { fields: { title: 'c', severity: 'critical' } }),
      event('update', 'fire', { at: 2, fields: { title: 'd' } }),
      event('close', 'fire', { at: 3 }),
    )
    await writer.commit()
    const pushes = await new Worker(store).claim(NIGHT)
    const passive = pushes.filter(({ isPassive }) => isPassive)
    t.deepEqual(placesOf(passive), ['token 1 1', 'token 1 3', 'token 1 6'])
    t.is(pushes.length, 12)
  })

  test(`${engine}: an Event has its present severity where an entry does not repeat it`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await prefer(store, { min_severity: 'critical' })
    const fields = { title: 'fire', severity: 'critical' }
    await writer.take(event('create', 'e', { fields })).commit()
    await writer.take(event('update', 'e', { fields: { title: 'more fire' } })).commit()
    await addPushDevice(store, A, 2)
    await writer.take(event('update', 'e', { at: 3, fields: { title: 'again' } })).commit()
    await writer.take(event('close', 'e', { at: 4 })).commit()
    const pushes = await new Worker(store).claim(NIGHT)
    t.is(
      pushes
        .map(({ route, severity }) => `${route.token} ${severity}`)
        .toSorted()
        .join(', '),
      `${'token 1 critical, '.repeat(3)}token 1 normal, token 2 critical, token 2 normal`,
    )
  })

  test(`${engine}: a device has other preferences in another channel, and those that it had before`, async (t) => {
    const store = await open(t, RULES)
    const writers = [await ChannelWriter.open(store, 1), await ChannelWriter.open(store, 2)]
    const device = await addPushDevice(store, A, 1)
    const B = channel(2)
    await store.subscriptions.subscribe(device, B, 1, { models: ['thing'] })
    await prefer(store, { quiet: QUIET })
    for (const writer of writers) await writer.take(message()).commit()
    const { pushes, filtered } = await new Worker(store).claimAll(NIGHT)
    t.deepEqual([pushes.map(({ isPassive }) => isPassive), filtered], [[true], 1])

    await store.subscriptions.subscribe(device, B, 2)
    t.deepEqual(await store.subscriptions.preferences(device, B), { models: ['thing'] })
    await store.subscriptions.subscribe(device, B, 2, { level: 1 })
    t.deepEqual(await store.subscriptions.preferences(device, B), { level: 1 })
    t.true(await prefer(store, {}, 1, B))
    t.true(await prefer(store, {}, 1, B), 'the same again')
    t.deepEqual(await store.subscriptions.preferences(device, B), {})
    t.is(await store.subscriptions.preferences(deviceId(9), B), undefined)
    t.false(await prefer(store, {}, 9, B))
  })
}
