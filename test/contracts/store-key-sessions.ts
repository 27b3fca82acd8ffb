// MQTT sessions that keys made: the places of a channel that they may take, and their end.

import test from 'ava'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import type { NewChannelKey } from '#domain/channel-keys'
import {
  KEPT_SESSIONS_OF_KEY_MAX,
  SUBSCRIBED_OF_KEYS_MAX,
  SUBSCRIBED_OF_KEY_MAX,
} from '#domain/mqtt/sessions'
import type { SessionOwner } from '#domain/mqtt/sessions'
import type { IdleLimits } from '#domain/retention-ports'
import type { Subscribed } from '#domain/store-ports'
import type { Store } from '#src/store/store'
import { PASSWORD_HASH, newChannel } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const NOW = 1_000_000
const PASSWORD = ''
const keyIdOf = (number: number): string => number.toString(16).padStart(32, '0')
const key = (number: number, more: Partial<NewChannelKey> = {}): NewChannelKey => ({
  keyHash: number.toString(16).padStart(64, '0'),
  keyId: keyIdOf(number),
  channelId: A,
  passwordHash: PASSWORD_HASH,
  label: '',
  createdAt: 0,
  scopes: ['send', 'read'],
  thingPrefix: 'a-',
  expiresAt: 0,
  ...more,
})

/** Enters a kept session of a key; the device has the number. */
async function entered(
  store: Store,
  number: number,
  keyId: string,
  expiresAt?: number,
): Promise<SessionOwner | undefined> {
  const deviceId = device(number)
  const session = { deviceId, channelId: A, isClean: false, isKept: true }
  const begun = await store.mqttSessions.enter({ ...session, keyId, expiresAt, nowMs: NOW })
  return begun.kept && { deviceId, number: begun.number }
}

const subscribed = async (
  { subscriptions }: Store,
  number: number,
  nowMs = NOW,
): Promise<Subscribed['kind']> => (await subscriptions.subscribe(device(number), A, nowMs)).kind

/** Enters the next sessions of a key and subscribes each, until one is refused; gives their number. */
async function taken(store: Store, from: number, keyId: string): Promise<number> {
  for (let count = 0; count < 40; count += 1) {
    await entered(store, from + count, keyId)
    if ((await subscribed(store, from + count)) !== 'subscribed') return count
  }
  return 40
}

/** The ways in which keys end, by which their sessions do too. */
const ENDS: readonly (readonly [string, (store: Store) => Promise<unknown>, later?: number])[] = [
  ['revoked', ({ channelKeys }) => channelKeys.revoke(A, keyIdOf(1))],
  ['expired', async () => undefined, 500],
  [
    'void after another password',
    ({ channels }) => {
      const change = { previousHash: PASSWORD_HASH, passwordHash: 'another' }
      return channels.changePassword(A, { ...change, kept: 'nothing' })
    },
  ],
]

export function keySessionContract(engine: string, open: OpenStore): void {
  test(`${engine}: subscriptions/3: sessions of one key, and of all keys, take their share of the places`, async (t) => {
    const store = await open(t)
    await store.channels.create(newChannel(A))
    t.is(await taken(store, 100, keyIdOf(1)), SUBSCRIBED_OF_KEY_MAX)
    let ofKeys = SUBSCRIBED_OF_KEY_MAX
    for (let number = 2; number <= 10; number += 1) {
      ofKeys += await taken(store, number * 100, keyIdOf(number))
    }
    t.is(ofKeys, SUBSCRIBED_OF_KEYS_MAX)
    t.is(await subscribed(store, 100), 'subscribed', 'one that has its place keeps it')
    t.is(await taken(store, 2_000, PASSWORD), SUBSCRIBERS_MAX - SUBSCRIBED_OF_KEYS_MAX)
    await store.subscriptions.unsubscribe(device(100), A, NOW)
    t.is(await subscribed(store, 2_000 + SUBSCRIBERS_MAX), 'no-device')
    t.is(await taken(store, 3_000, PASSWORD), 1)
  })

  test(`${engine}: subscriptions/3: keys get their places together, however many ask at once`, async (t) => {
    const store = await open(t)
    await store.channels.create(newChannel(A))
    for (let at = 0; at < 24; at += 1) await entered(store, at + 1, keyIdOf(at >> 1))
    const asked = Array.from({ length: 24 }, (_, at) => subscribed(store, at + 1))
    const got = (await Promise.all(asked)).filter((kind) => kind === 'subscribed')
    t.is(got.length, SUBSCRIBED_OF_KEYS_MAX)
  })

  test(`${engine}: a key makes no more kept sessions than its share, and the password does`, async (t) => {
    const store = await open(t)
    await store.channels.create(newChannel(A))
    for (let at = 0; at < KEPT_SESSIONS_OF_KEY_MAX; at += 100) {
      const some = Array.from({ length: 100 }, (_, more) => at + more + 1)
      await Promise.all(some.map((number) => entered(store, number, keyIdOf(1))))
    }
    t.is(await entered(store, 5_000, keyIdOf(1)), undefined)
    t.truthy(await entered(store, 1, keyIdOf(1)))
    t.truthy(await entered(store, 5_001, keyIdOf(2)))
    t.truthy(await entered(store, 5_002, PASSWORD))
  })

  for (const [what, end, later = 0] of ENDS) {
    test(`${engine}: mqtt-sessions/3: sessions of a key that is ${what} end with it, at once, and no other`, async (t) => {
      const store = await open(t)
      await store.channels.create(newChannel(A))
      const expiresAt = later > 0 ? NOW + later : 0
      await store.channelKeys.create(key(1, { expiresAt }))
      const [owner, second] = [
        await entered(store, 1, keyIdOf(1), expiresAt || undefined),
        await entered(store, 2, keyIdOf(1), expiresAt || undefined),
      ]
      t.truthy(await entered(store, 9, PASSWORD))
      for (const number of [1, 9]) t.is(await subscribed(store, number), 'subscribed')
      // The places of the channel are used up.
      for (let number = 100; number < 100 + SUBSCRIBERS_MAX - 2; number += 1) {
        await entered(store, number, PASSWORD)
        t.is(await subscribed(store, number), 'subscribed')
      }
      await end(store)
      const nowMs = NOW + later
      t.is(await subscribed(store, 2, nowMs), 'no-device')
      await entered(store, 200, PASSWORD)
      t.is(await subscribed(store, 200, nowMs), 'subscribed', 'its place is free')
      // A connection that goes on, as nobody told it, lets nothing live on.
      for (const each of [owner, second]) {
        if (each !== undefined) await store.mqttSessions.leave(each, nowMs + 9_999)
      }
      const limits: IdleLimits = { neverSubscribed: 0, devices: 0, channels: 0, nowMs: nowMs + 1 }
      t.is((await store.retention.expire(limits, 99)).devices, 2)
      t.is((await store.channels.info(A))?.subscribers, SUBSCRIBERS_MAX)
    })
  }
}
