// Goal: the bytes that caches count are those that their entries take in the heap.
// Method: each cache is filled with entries as the store gives them, each with texts of its own.

import test from 'ava'

import { KEY_SCOPES } from '#domain/channel-keys'
import type { StoredKey } from '#domain/channel-keys'
import { channelIdFromBytes, operationIdFrom } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { Credentials } from '#src/acceptance/credentials'
import { KeyUses } from '#src/acceptance/key-uses'
import { KnownKeys, keyHashOf } from '#src/acceptance/known-keys'
import { KnownMappings } from '#src/acceptance/channels/known-mappings'
import { Unapplied, factsOf } from '#src/stream/unapplied'
import { FakeTime } from '#test/support/fake-timers'
import { heapAfterCollection } from '#test/support/heap'
import { realRuntime } from '#test/support/real-runtime'
import { thing } from '#test/support/submissions'

const COUNT = 20_000
const TIME = new FakeTime(0)
const PORTS = { monotonicMs: TIME.monotonicMs, nowMs: TIME.nowMs, timers: TIME }

/** A value with texts of its own, as a row of the store is. */
const fresh = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value

const channelOf = (number: number): ChannelId =>
  fresh(channelIdFromBytes(Uint8Array.from({ length: 16 }, (_, at) => (number >> (8 * at)) & 255)))

const keyOf = (keyHash: string): StoredKey =>
  fresh({
    keyHash,
    keyId: keyHash.slice(32),
    channelId: channelOf(1),
    scopes: KEY_SCOPES,
    thingPrefix: '',
    expiresAt: 0,
    label: 'pump of a site',
    lastUsedOn: 0,
  })

/** Fills a cache; returns it, so that it lives, and the bytes that it counts. */
type Fill = () => Promise<readonly [cache: unknown, bytes: number]>

const CACHES: readonly (readonly [what: string, fill: Fill])[] = [
  [
    'verified passwords',
    async () => {
      const credentials = new Credentials({
        ...PORTS,
        channels: {
          credentials: async (channelId) =>
            fresh({ channelId, passwordHash: 'h'.repeat(130), channelName: 'a site' }),
          changePassword: async () => false,
        },
        work: {
          hash: async () => '',
          isWeak: () => false,
          waiting: () => 0,
          matches: async () => true,
        },
        entropy: realRuntime.entropy,
      })
      for (let at = 0; at < COUNT; at += 1) await credentials.check(channelOf(at), 'password')
      return [credentials, credentials.bytes()]
    },
  ],
  [
    'known keys',
    async () => {
      const keys = new KnownKeys({
        ...PORTS,
        channelKeys: { find: async (hashes) => hashes.map(keyOf) },
      })
      for (let at = 0; at < COUNT; at += 1) await keys.find(`key ${at}`)
      return [keys, keys.bytes()]
    },
  ],
  [
    'uses of keys',
    async () => {
      const uses = new KeyUses({ ...PORTS, channelKeys: { used: async () => undefined } })
      TIME.advance(86_400_000)
      for (let at = 0; at < COUNT; at += 1) uses.note(keyOf(keyHashOf(`key ${at}`)))
      TIME.advance(10_000) // It writes, and no timer keeps it.
      return [uses, uses.bytes()]
    },
  ],
  [
    'mappings',
    async () => {
      const mapping = { topic: 'site/+room/+device/state', thing: '{room}-{device}' }
      const text = JSON.stringify([mapping, mapping, mapping])
      const known = new KnownMappings({
        ...PORTS,
        mappings: { find: async () => ({ mappings: text, unmapped: [] }) },
      })
      for (let at = 0; at < COUNT; at += 1) await known.of(channelOf(at))
      return [known, known.bytes()]
    },
  ],
  [
    'submissions that are not applied',
    async () => {
      const unapplied = new Unapplied(1)
      for (let at = 0; at < COUNT; at += 100) {
        const batch = Array.from({ length: 100 }, (_, nth) => {
          const opId = operationIdFrom(7, String(at + nth).padStart(32, '0'))
          const made = thing('update', `pump-${at + nth}`, { opId, acceptedAt: 7 })
          return factsOf(fresh({ ...made, channelId: channelOf(at) }))
        })
        unapplied.remember(0, at + 1, batch)
      }
      return [unapplied, unapplied.bytes]
    },
  ],
]

/** Fills a cache and lets it go. Returns what it counted, and by how much the heap grew. */
async function sizesOf(fill: Fill): Promise<readonly [bytes: number, grown: number]> {
  const before = heapAfterCollection()
  const [cache, bytes] = await fill()
  const grown = heapAfterCollection() - before
  return cache === undefined ? [Number.NaN, Number.NaN] : [bytes, grown] // It lives until here.
}

for (const [what, fill] of CACHES) {
  test.serial(`the bytes of ${what} are within a half of those in the heap`, async (t) => {
    await sizesOf(fill) // Whatever is made once is made.
    // What V8 compiles meanwhile is in one of three, not in the middle one.
    const sizes = [await sizesOf(fill), await sizesOf(fill), await sizesOf(fill)]
    const [, [bytes, grown] = [Number.NaN, Number.NaN]] = sizes.toSorted(
      ([, one], [, other]) => one - other,
    )
    t.log(`${Math.round(grown / COUNT)} in the heap, ${Math.round(bytes / COUNT)} counted`)
    t.true(bytes > grown / 1.5 && bytes < grown * 1.5)
  })
}
