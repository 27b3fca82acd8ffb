// Keys that stand in the place of a channel's password.

import test from 'ava'

import { KEY_SCOPES } from '#domain/channel-keys'
import type { NewChannelKey } from '#domain/channel-keys'
import type { ChannelId } from '#domain/identity'
import type { Store } from '#src/store/store'
import { PASSWORD_HASH, changed, newChannel } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const B = channel(2)
const GRANT = { grantId: 'grant', client: 'c', browser: 'b', clientName: 'A client', boundAt: 1 }

const key = (number: number, channelId = A): NewChannelKey => ({
  keyHash: number.toString(16).padStart(64, '0'),
  keyId: number.toString(16).padStart(32, '0'),
  channelId,
  passwordHash: PASSWORD_HASH,
  label: `Schlüssel ${number} 🔑`,
  createdAt: number,
  scopes: number % 2 === 0 ? ['read'] : KEY_SCOPES,
  thingPrefix: number % 2 === 0 ? 'boiler-' : '',
  expiresAt: number % 2 === 0 ? 5_000 : 0,
})

const listed = (number: number, lastUsedOn = 0): object => {
  const { keyHash: _hash, channelId: _id, passwordHash: _password, ...rest } = key(number)
  return { ...rest, lastUsedOn }
}

/** The channel that a key opens. */
async function opened({ channelKeys }: Store, number: number): Promise<ChannelId | undefined> {
  return (await channelKeys.find([key(number).keyHash]))[0]?.channelId
}

async function keysOf({ channelKeys }: Store, channelId = A): Promise<readonly object[]> {
  return (await channelKeys.list(channelId, 0, 200)).items
}

export function channelKeyContract(engine: string, open: OpenStore): void {
  test(`${engine}: a key opens its channel with its rights, and no other text does`, async (t) => {
    const store = await open(t)
    const { channels, channelKeys } = store
    await channels.create(newChannel(A))
    t.is(await channelKeys.create(key(1)), 'created')
    t.is(await channelKeys.create(key(4)), 'created')
    const asked = Array.from({ length: 1_024 }, (_, at) => key(at).keyHash)
    const found = (await channelKeys.find(asked)).toSorted((one) =>
      one.scopes.length === 2 ? -1 : 1,
    )
    t.like(found, [
      {
        channelId: A,
        keyId: key(1).keyId,
        scopes: ['send', 'read'],
        thingPrefix: '',
        expiresAt: 0,
      },
      { keyHash: key(4).keyHash, scopes: ['read'], thingPrefix: 'boiler-', expiresAt: 5_000 },
    ])
    t.is(await opened(store, 2), undefined)
    t.is(await channelKeys.create(key(2, B)), 'no-channel')
    t.is(await channelKeys.create({ ...key(3), passwordHash: 'another' }), 'no-channel')
  })

  test(`${engine}: keys are listed by age in pages, each channel's own, and revoked one by one`, async (t) => {
    const store = await open(t)
    const { channels, channelKeys } = store
    await channels.create(newChannel(A))
    await channels.create(newChannel(B))
    for (const made of [key(2), key(1), key(3, B), key(4)]) await channelKeys.create(made)
    const first = await channelKeys.list(A, 0, 2)
    t.deepEqual(first.items, [listed(2), listed(1)])
    t.deepEqual(await channelKeys.list(A, first.next ?? 0, 2), { items: [listed(4)] })
    t.false(await channelKeys.revoke(B, key(1).keyId))
    t.true(await channelKeys.revoke(A, key(1).keyId))
    t.false(await channelKeys.revoke(A, key(1).keyId))
    t.is(await opened(store, 1), undefined)
    t.deepEqual(await keysOf(store), [listed(2), listed(4)])
    t.is(await opened(store, 3), B)
  })

  test(`${engine}: a key keeps the last day of its use`, async (t) => {
    const store = await open(t)
    await store.channels.create(newChannel(A))
    for (const number of [1, 2]) await store.channelKeys.create(key(number))
    await store.channelKeys.used([key(2).keyHash, key(9).keyHash], 20_000)
    await store.channelKeys.used([key(2).keyHash], 19_999)
    t.deepEqual(await keysOf(store), [listed(1), listed(2, 20_000)])
    t.is((await store.channelKeys.find([key(2).keyHash]))[0]?.lastUsedOn, 20_000)
  })

  test(`${engine}: stored-keys/1: another password and the end of the channel make its keys void`, async (t) => {
    const store = await open(t)
    const { channels, channelKeys } = store
    await channels.create(newChannel(A))
    await channels.create(newChannel(B))
    await channelKeys.create(key(1))
    await channelKeys.create(key(2, B))
    await channels.changePassword(A, changed(PASSWORD_HASH, 'another'))
    t.is(await opened(store, 1), undefined)
    t.deepEqual(await keysOf(store), [])
    await channels.delete(B, 1)
    t.is(await opened(store, 2), undefined)
    await channelKeys.create({ ...key(3), passwordHash: 'another' })
    t.deepEqual(await keysOf(store), [listed(3)])
    t.is(await opened(store, 1), undefined)
  })

  test(`${engine}: stored-keys/1: a change that keeps keys keeps those in force, and no binding`, async (t) => {
    const store = await open(t)
    const { channels, channelKeys, bindings } = store
    await channels.create(newChannel(A))
    await channelKeys.create(key(1))
    await channels.changePassword(A, changed(PASSWORD_HASH, 'second'))
    await channelKeys.create({ ...key(2), passwordHash: 'second' })
    await bindings.bind({ ...GRANT, channelId: A, passwordHash: 'second' })
    const keeping = { previousHash: 'second', passwordHash: 'third', kept: 'keys' } as const
    t.true(await channels.changePassword(A, keeping))
    t.false(await channels.changePassword(A, keeping))
    t.is(await opened(store, 2), A)
    t.is(await opened(store, 1), undefined)
    t.deepEqual(await bindings.ofGrant('grant'), [])
    await channelKeys.create({ ...key(3), passwordHash: 'third' })
    t.deepEqual(await keysOf(store), [listed(2), listed(3)])
  })

  test(`${engine}: a hash that is made anew for its password keeps keys and bindings`, async (t) => {
    const store = await open(t)
    const { channels, channelKeys, bindings } = store
    for (const one of [A, B]) {
      await channels.create(newChannel(one))
      await bindings.bind({ ...GRANT, channelId: one, passwordHash: PASSWORD_HASH })
    }
    await channelKeys.create(key(1))
    const change = {
      previousHash: PASSWORD_HASH,
      passwordHash: 'anew',
      kept: 'everything',
    } as const
    t.true(await channels.changePassword(A, change))
    t.is(await opened(store, 1), A)
    t.is((await bindings.ofGrant('grant')).length, 2)
    t.is((await channels.credentials(A))?.passwordHash, 'anew')
  })
}
