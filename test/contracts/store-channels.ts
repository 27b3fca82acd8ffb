// Channels and devices, as the management API asks for them.

import test from 'ava'

import { parseDeviceId } from '#domain/identity'
import type { DeviceId } from '#domain/identity'
import { PASSWORD_HASH, newChannel, changed } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const B = channel(2)

/** A device id of its own for every number. */
export function device(number: number): DeviceId {
  const id = parseDeviceId(number.toString(16).padStart(64, '0'))
  if (id === undefined) throw new Error('not a device id')
  return id
}

export function channelContract(engine: string, open: OpenStore): void {
  test(`${engine}: the first salt of the passwords stays, whoever asks together`, async (t) => {
    const { channels } = await open(t)
    const asked = ['one', 'two', 'three'].map((first) => channels.passwordSalt(first))
    const [salt = '', ...others] = await Promise.all(asked)
    t.true(['one', 'two', 'three'].includes(salt))
    t.deepEqual(others, [salt, salt])
    t.is(await channels.passwordSalt('four'), salt)
  })

  test(`${engine}: a created channel is there, and no other`, async (t) => {
    const { channels } = await open(t)
    await channels.create(newChannel(A))
    t.true(await channels.exists(A))
    t.false(await channels.exists(B))
    t.deepEqual(await channels.credentials(A), {
      channelId: A,
      channelName: 'a channel',
      passwordHash: PASSWORD_HASH,
    })
    t.is(await channels.credentials(B), undefined)
    t.deepEqual(await channels.info(A), {
      channelId: A,
      channelName: 'a channel',
      createdAt: 500,
      headSeq: 0,
      things: 0,
      openEvents: 0,
      subscribers: 0,
    })
    t.is(await channels.info(B), undefined)
  })

  test(`${engine}: a second channel of the same id is refused`, async (t) => {
    const { channels } = await open(t)
    await channels.create(newChannel(A))
    await t.throwsAsync(channels.create({ ...newChannel(A), passwordHash: 'another' }))
    t.is((await channels.credentials(A))?.passwordHash, PASSWORD_HASH)
  })

  test(`${engine}: a rename changes this channel only`, async (t) => {
    const { channels } = await open(t)
    await channels.create(newChannel(A))
    await channels.create(newChannel(B))
    t.true(await channels.rename(A, 'Küche 🔥'))
    t.is((await channels.info(A))?.channelName, 'Küche 🔥')
    t.is((await channels.info(B))?.channelName, 'a channel')
    t.true(await channels.rename(A, 'Küche 🔥'))
    t.false(await channels.rename(channel(3), 'nobody'))
  })

  test(`${engine}: a password changes only while the previous one is in force`, async (t) => {
    const { channels } = await open(t)
    await channels.create(newChannel(A))
    t.true(await channels.changePassword(A, changed(PASSWORD_HASH, 'second')))
    t.false(await channels.changePassword(A, changed(PASSWORD_HASH, 'third')))
    t.is((await channels.credentials(A))?.passwordHash, 'second')
  })

  test(`${engine}: one of many changes of a password at once wins`, async (t) => {
    const { channels } = await open(t)
    await channels.create(newChannel(A))
    const attempts = Array.from({ length: 20 }, (_, index) =>
      channels.changePassword(A, changed(PASSWORD_HASH, `hash-${index}`)),
    )
    const won = (await Promise.all(attempts)).indexOf(true)
    t.is((await channels.credentials(A))?.passwordHash, `hash-${won}`)
  })

  test(`${engine}: a deleted channel is gone for everybody at once`, async (t) => {
    const { channels, devices, subscriptions } = await open(t)
    await channels.create(newChannel(A))
    await devices.create(device(1), 'ios', 1)
    await subscriptions.subscribe(device(1), A, 1)

    t.true(await channels.delete(A, 1))
    t.false(await channels.delete(A, 2))
    t.false(await channels.exists(A))
    t.is(await channels.credentials(A), undefined)
    t.is(await channels.info(A), undefined)
    t.false(await channels.rename(A, 'again'))
    t.false(await channels.changePassword(A, changed(PASSWORD_HASH, 'again')))
    t.deepEqual(await subscriptions.positions(device(1)), [])
    t.deepEqual(await subscriptions.subscribe(device(1), A, 2), { kind: 'no-channel' })
  })

  test(`${engine}: a device is private until it has another route`, async (t) => {
    const { devices } = await open(t)
    t.is(await devices.find(device(1)), undefined)
    t.false(await devices.setRoute(device(1), 'apns', 'token'))

    await devices.create(device(1), 'ios', 1)
    const isPrivate = { deviceId: device(1), platform: 'ios', channelType: 'private' } as const
    t.deepEqual(await devices.find(device(1)), isPrivate)
    t.true(await devices.setRoute(device(1), 'apns', 'token'))
    t.deepEqual(await devices.find(device(1)), {
      ...isPrivate,
      channelType: 'apns',
      providerToken: 'token',
    })
    t.true(await devices.setRoute(device(1), 'private', undefined))
    t.deepEqual(await devices.find(device(1)), isPrivate)
  })

  test(`${engine}: many devices that begin sessions together each get a number of their own`, async (t) => {
    const { devices } = await open(t)
    for (const number of [1, 2]) await devices.create(device(number), 'web', 1)
    const asked = [2, 3, 1, 2, 1, 2].map((number) => devices.numberSession(device(number)))
    t.deepEqual(await Promise.all(asked), [1, undefined, 1, 2, 2, 3])
    t.is(await devices.numberSession(device(2)), 4)
  })

  test(`${engine}: the sessions of a device are numbered in the order in which they begin`, async (t) => {
    const { devices } = await open(t)
    t.is(await devices.numberSession(device(1)), undefined)
    await devices.create(device(1), 'ios', 1)
    await devices.create(device(2), 'ios', 1)
    t.is(await devices.numberSession(device(1)), 1)
    t.is(await devices.numberSession(device(1)), 2)
    t.is(await devices.numberSession(device(2)), 1)
    const atOnce = Array.from({ length: 20 }, () => devices.numberSession(device(1)))
    const numbers = (await Promise.all(atOnce)).map((number) => number ?? 0)
    t.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from(numbers, (_, index) => index + 3),
    )
  })

  test(`${engine}: a retired token takes its devices back to private`, async (t) => {
    const { devices } = await open(t)
    for (const [number, platform] of [
      [1, 'ios'],
      [2, 'ios'],
      [3, 'ios'],
      [4, 'macos'],
    ] as const) {
      await devices.create(device(number), platform, 1)
      await devices.setRoute(device(number), 'apns', number === 3 ? 'newer' : 'old')
    }
    await devices.retireToken('ios', 'old')
    const types = []
    for (const number of [1, 2, 3, 4]) types.push((await devices.find(device(number)))?.channelType)
    t.deepEqual(types, ['private', 'private', 'apns', 'apns'])
    t.is((await devices.find(device(1)))?.providerToken, undefined)
  })

  test(`${engine}: a device that is removed leaves its channels`, async (t) => {
    const { channels, devices, subscriptions } = await open(t)
    await channels.create(newChannel(A))
    await devices.create(device(1), 'web', 1)
    await subscriptions.subscribe(device(1), A, 1)
    await devices.remove(device(1))
    await t.notThrowsAsync(devices.remove(device(1)))
    t.is(await devices.find(device(1)), undefined)
    t.is((await channels.info(A))?.subscribers, 0)
  })
}
