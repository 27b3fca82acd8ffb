// Keys that stand for a channel and its password.

import test from 'ava'

import { CHANNEL_KEYS_MAX } from '#domain/channel-keys'
import type { NewChannelKey } from '#domain/channel-keys'
import { PASSWORD_HASH, newChannel } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const B = channel(2)

const key = (number: number, channelId = A): NewChannelKey => ({
  keyHash: number.toString(16).padStart(64, '0'),
  keyId: number.toString(16).padStart(32, '0'),
  channelId,
  passwordHash: PASSWORD_HASH,
  label: `Schlüssel ${number} 🔑`,
  createdAt: number,
})

const listed = (number: number): object => {
  const { keyId, label, createdAt } = key(number)
  return { keyId, label, createdAt }
}

export function channelKeyContract(engine: string, open: OpenStore): void {
  test(`${engine}: a key opens its channel, and no other text does`, async (t) => {
    const { channels, channelKeys } = await open(t)
    await channels.create(newChannel(A))
    t.is(await channelKeys.create(key(1)), 'created')
    t.is(await channelKeys.find(key(1).keyHash), A)
    t.is(await channelKeys.find(key(2).keyHash), undefined)
    t.is(await channelKeys.create(key(2, B)), 'no-channel')
    t.is(await channelKeys.create({ ...key(3), passwordHash: 'another' }), 'no-channel')
  })

  test(`${engine}: keys are listed by age, each channel's own, and revoked one by one`, async (t) => {
    const { channels, channelKeys } = await open(t)
    await channels.create(newChannel(A))
    await channels.create(newChannel(B))
    for (const made of [key(2), key(1), key(3, B)]) await channelKeys.create(made)
    t.deepEqual(await channelKeys.list(A), [listed(1), listed(2)])
    t.false(await channelKeys.revoke(B, key(1).keyId))
    t.true(await channelKeys.revoke(A, key(1).keyId))
    t.false(await channelKeys.revoke(A, key(1).keyId))
    t.is(await channelKeys.find(key(1).keyHash), undefined)
    t.deepEqual(await channelKeys.list(A), [listed(2)])
    t.is(await channelKeys.find(key(3).keyHash), B)
  })

  test(`${engine}: stored-keys/1: another password, or the end of the channel, makes keys void`, async (t) => {
    const { channels, channelKeys } = await open(t)
    await channels.create(newChannel(A))
    await channels.create(newChannel(B))
    await channelKeys.create(key(1))
    await channelKeys.create(key(2, B))
    await channels.changePassword(A, PASSWORD_HASH, 'another')
    t.is(await channelKeys.find(key(1).keyHash), undefined)
    t.deepEqual(await channelKeys.list(A), [])
    await channels.delete(B, 1)
    t.is(await channelKeys.find(key(2).keyHash), undefined)
  })

  test(`${engine}: stored-keys/2: a channel has a greatest number of keys, and void ones make room`, async (t) => {
    const { channels, channelKeys } = await open(t)
    await channels.create(newChannel(A))
    const numbers = Array.from({ length: CHANNEL_KEYS_MAX + 3 }, (_, index) => index + 1)
    const outcomes = await Promise.all(numbers.map((number) => channelKeys.create(key(number))))
    t.is(outcomes.filter((outcome) => outcome === 'created').length, CHANNEL_KEYS_MAX)
    t.is(outcomes.filter((outcome) => outcome === 'full').length, 3)
    await channels.changePassword(A, PASSWORD_HASH, 'another')
    t.is(await channelKeys.create({ ...key(999), passwordHash: 'another' }), 'created')
  })
}
