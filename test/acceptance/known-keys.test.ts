// Goal: a node looks a key up once, and forgets it at once when a notice says so.

import { createHash } from 'node:crypto'

import test from 'ava'

import { KEY_SCOPES } from '#domain/channel-keys'
import type { StoredKey } from '#domain/channel-keys'
import type { ChannelId } from '#domain/identity'
import { KeyUses, NOTED_MAX } from '#src/acceptance/key-uses'
import { KNOWN_BYTES_MAX, KnownKeys, keyHashOf } from '#src/acceptance/known-keys'
import { FakeTime } from '#test/support/fake-timers'
import { NOW_MS } from '#test/support/making'
import { channel } from '#test/support/submissions'

const textOf = (number: number): string => String(number).padStart(43, 'k')

const keyOf = (number: number, channelId: ChannelId = channel(1)): StoredKey => ({
  keyHash: keyHashOf(textOf(number)),
  keyId: String(number),
  channelId,
  scopes: KEY_SCOPES,
  thingPrefix: '',
  expiresAt: 0,
  label: '',
  lastUsedOn: 0,
})

/** A store whose reads a test lets go one by one when it holds them. */
function setUp(count = 3) {
  const stored = new Map(
    Array.from({ length: count }, (_, number) => [keyOf(number).keyHash, keyOf(number)]),
  )
  const reads: number[] = []
  const asked: string[] = []
  const held: (() => void)[] = []
  const rig = { isHeld: false, isAway: false }
  const uses: string[][] = []
  const time = new FakeTime(NOW_MS)
  const channelKeys = {
    find: async (hashes: readonly string[]): Promise<readonly StoredKey[]> => {
      reads.push(hashes.length)
      asked.push(...hashes)
      const found = hashes.flatMap((hash) => stored.get(hash) ?? [])
      if (rig.isHeld) await new Promise<void>((resolve) => held.push(resolve))
      if (rig.isAway) throw new Error('away')
      return found
    },
    used: async (hashes: readonly string[]): Promise<void> => {
      uses.push([...hashes])
    },
  }
  const ports = { channelKeys, monotonicMs: time.monotonicMs, nowMs: time.nowMs, timers: time }
  const keys = new KnownKeys(ports)
  const read = async (number: number): Promise<unknown> => keys.find(textOf(number))
  return { stored, reads, asked, held, rig, uses, time, keys, read, noted: new KeyUses(ports) }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('known-keys/3: 10,000 keys that come at once share few reads, and then none', async (t) => {
  const { keys, read, reads } = setUp(10_000)
  const asked = Array.from({ length: 20_000 }, (_, at) => read(at % 10_000))
  const found = await Promise.all(asked)
  t.is(new Set(found).size, 10_000)
  t.is(reads.length, 10)
  t.false(keys.find(textOf(7)) instanceof Promise)
  t.is(reads.length, 10)
})

test('known-keys/1: the store is asked for the SHA-256 of a key, never for its text', async (t) => {
  const { read, asked } = setUp()
  await Promise.all([read(1), read(5)])
  t.deepEqual(
    asked,
    [1, 5].map((number) => createHash('sha256').update(textOf(number)).digest('hex')),
  )
})

test('kept-answers/2: a notice removes one key, or all of a channel', async (t) => {
  const { keys, read, stored, reads } = setUp()
  for (const number of [0, 1, 2]) await read(number)
  stored.clear()
  keys.forget({ channelId: channel(1), keyId: '1' })
  t.is(await read(1), undefined)
  t.like(await read(0), { keyId: '0' })
  keys.forget({ channelId: channel(2) })
  t.like(await read(0), { keyId: '0' })
  keys.forget({ channelId: channel(1) })
  t.is(await read(0), undefined)
  t.is(keys.size(), 0)
  t.is(await read(0), undefined)
  t.is(reads.length, 5, 'an unknown key is not read at each guess')
})

for (const [what, change] of [
  ['a notice of the key', (keys: KnownKeys) => keys.forget({ channelId: channel(1), keyId: '1' })],
  ['the loss of notices', (keys: KnownKeys) => keys.forgetAll()],
] as const) {
  test(`kept-answers/2: ${what} while a read is under way makes it read again`, async (t) => {
    const { keys, read, stored, held, rig, reads } = setUp()
    rig.isHeld = true
    const asked = read(1)
    await turn()
    stored.clear()
    change(keys)
    held.shift()?.()
    await turn()
    held.shift()?.()
    t.is(await asked, undefined)
    t.is(reads.length, 2)
  })
}

test('known-keys/2: when notices may be lost, every key is read again before its next use', async (t) => {
  const { keys, read, stored, rig } = setUp()
  await read(1)
  keys.forgetAll()
  rig.isAway = true
  await t.throwsAsync(read(1))
  rig.isAway = false
  stored.clear()
  t.is(await read(1), undefined)
})

test('kept-answers/3: a key is compared once a minute while it is used, and nobody waits', async (t) => {
  const { keys, read, stored, time, reads } = setUp()
  await read(1)
  stored.clear()
  time.advance(59_999)
  void keys.find(textOf(1))
  await turn()
  t.is(reads.length, 1)
  time.advance(1)
  t.false(keys.find(textOf(1)) instanceof Promise)
  await turn()
  t.is(await read(1), undefined)
})

test('kept-answers/4: 50,000 keys may be asked for at once, the next is refused as busy', async (t) => {
  const { keys, rig } = setUp()
  rig.isHeld = true
  for (let number = 0; number < 50_000; number += 1) void keys.find(textOf(number))
  t.is(keys.waiting(), 50_000)
  t.like(keys.find(textOf(50_000)), { code: 'server_busy' })
})

test('key-uses/1: a day of use is written once, with those of other keys', async (t) => {
  const { noted, time, uses } = setUp()
  const day = Math.floor(NOW_MS / 86_400_000)
  for (const number of [1, 2, 1]) noted.note(keyOf(number))
  noted.note({ ...keyOf(3), lastUsedOn: day })
  t.is(uses.length, 0)
  time.advance(10_000)
  t.deepEqual(uses, [[1, 2].map((number) => keyOf(number).keyHash)])
  noted.note(keyOf(1))
  time.advance(10_000)
  t.is(uses.length, 1)
  time.advance(86_400_000)
  noted.note(keyOf(1))
  time.advance(10_000)
  t.is(uses.length, 2)
})

test('key-uses/2: what waits to be written is among what is remembered', (t) => {
  const { noted, uses } = setUp()
  const key = keyOf(0)
  for (let number = 0; number < NOTED_MAX; number += 1) {
    noted.note({ ...key, keyHash: String(number) })
  }
  t.is(uses.length, 0)
  const full = noted.bytes()
  noted.note({ ...key, keyHash: 'one more' })
  t.deepEqual(
    uses.map((hashes) => hashes.length),
    [NOTED_MAX],
  )
  t.is(noted.bytes(), full / NOTED_MAX)
})

test('kept-answers/4: keys beyond the bound in bytes push out the one that was used longest ago', async (t) => {
  const labelled = { ...keyOf(0), label: 'l'.repeat(128) }
  const channelKeys = {
    find: async (hashes: readonly string[]) =>
      hashes.map((keyHash) => ({ ...labelled, keyHash, keyId: keyHash })),
  }
  const keys = new KnownKeys({ channelKeys, monotonicMs: () => 0 })
  await keys.find('first')
  const countMax = Math.floor(KNOWN_BYTES_MAX / keys.bytes())
  for (let at = 1; at < countMax; at += 1) await keys.find(`key ${at}`)
  t.is(keys.size(), countMax)
  void keys.find('first')
  await keys.find('one more')
  t.is(keys.size(), countMax)
  t.false(keys.find('first') instanceof Promise)
  t.true(keys.find('key 1') instanceof Promise)
})
