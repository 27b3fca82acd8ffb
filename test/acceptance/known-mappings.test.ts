// Goal: publishes are read by the mappings of their channel: known at once, new after a change, and
// never missing because the store is away. What nothing maps is noted, within bounds.

import test from 'ava'

import { UNMAPPED_MAX } from '#domain/mqtt/mappings'
import {
  CHARACTER_BYTES,
  KNOWN_BYTES_MAX,
  KnownMappings,
} from '#src/acceptance/channels/known-mappings'
import { UnmappedNotes } from '#src/acceptance/channels/mappings'
import { FakeMappings } from '#test/support/fake-mappings'
import { FakeTime } from '#test/support/fake-timers'
import { NOW_MS } from '#test/support/making'
import { channel } from '#test/support/submissions'
import { turn } from '#test/support/until'

const A = channel(1)
const listOf = (...things: readonly string[]): string =>
  JSON.stringify(things.map((thing) => ({ topic: 'a', thing })))

function rig() {
  const time = new FakeTime(NOW_MS)
  const mappings = new FakeMappings()
  const ports = { mappings, monotonicMs: time.monotonicMs, timers: time }
  const known = new KnownMappings(ports)
  const things = async (of = A) => (await known.of(of)).map(({ thing }) => thing)
  return { time, mappings, known, things, notes: new UnmappedNotes(ports) }
}

test('mappings are read once, also when many ask at once, and then known without a wait', async (t) => {
  const { known, mappings, things } = rig()
  await mappings.put(A, listOf('x', 'y'))
  t.deepEqual(await Promise.all([things(), things()]), [
    ['x', 'y'],
    ['x', 'y'],
  ])
  t.false(known.of(A) instanceof Promise)
  t.deepEqual(await things(channel(2)), [])
  t.is(mappings.reads, 2)
  t.is(known.size(), 2)
})

test('known-mappings/1: a publish waits for a store that is away', async (t) => {
  const { time, mappings, things } = rig()
  await mappings.put(A, listOf('x'))
  mappings.isAway = true
  const waiting = things()
  for (let tries = 0; tries < 3; tries += 1) {
    await turn()
    time.advance(1_000)
  }
  mappings.isAway = false
  await turn()
  time.advance(1_000)
  t.deepEqual(await waiting, ['x'])
})

test('known-mappings/2: a change is in force once it is answered, also beside an older read', async (t) => {
  const { known, mappings, things } = rig()
  await mappings.put(A, listOf('x'))
  const early = things()
  await mappings.put(A, listOf('y'))
  await known.changed(A)
  await early
  t.deepEqual(await things(), ['y'])
  await mappings.put(A, listOf('z'))
  await known.changed(A)
  t.deepEqual(await things(), ['z'])
  await known.changed(channel(2))
  t.is(known.size(), 1)
})

test('kept-answers/2: what a read found is read again when a notice came beside it', async (t) => {
  const { known, mappings, things } = rig()
  const find = mappings.find.bind(mappings)
  const { promise, resolve } = Promise.withResolvers<void>()
  await mappings.put(A, listOf('x'))
  mappings.find = async (channelId) => {
    const found = await find(channelId)
    await promise
    return found
  }
  const early = things()
  await turn()
  await mappings.put(A, listOf('y'))
  await known.changed(A)
  resolve()
  t.deepEqual(await early, ['y'])
})

test('kept-answers/5: what is known is compared in time, and stays while the store is away', async (t) => {
  const { time, known, mappings, things } = rig()
  await mappings.put(A, listOf('x'))
  await things()
  await mappings.put(A, listOf('y'))
  time.advance(59_999)
  t.deepEqual(await things(), ['x'])
  t.is(mappings.reads, 1)
  mappings.isAway = true
  known.recheck()
  t.deepEqual(await things(), ['x'])
  await turn()
  t.deepEqual([await things(), mappings.reads], [['x'], 2])
  mappings.isAway = false
  time.advance(1_000)
  t.deepEqual(await things(), ['x'])
  await turn()
  t.deepEqual(await things(), ['y'])
})

test('kept-answers/4: what is kept has a bound in bytes', async (t) => {
  const { known, mappings, things } = rig()
  const large = JSON.stringify([{ topic: 'a', thing: 'x' }]).padEnd(2 ** 19)
  const countMax = Math.floor(KNOWN_BYTES_MAX / (CHARACTER_BYTES * 2 ** 19))
  for (let number = 1; number <= countMax + 1; number += 1) {
    await mappings.put(channel(number), large)
    await things(channel(number))
  }
  t.is(known.size(), countMax)
  t.true(known.of(A) instanceof Promise)
})

test('a stored mapping that this version cannot read leaves the others in force', async (t) => {
  const { mappings, things } = rig()
  await mappings.put(A, '[{"topic":"a","thing":"x","later":1},{"topic":"a","thing":"y"}]')
  t.deepEqual(await things(), ['y'])
})

test('unmapped-topics/1: topics are written together, the newest ten of each channel', async (t) => {
  const { time, mappings, notes } = rig()
  for (let at = 0; at <= UNMAPPED_MAX; at += 1) notes.note(A, `t${at}`, at)
  notes.note(A, 't1', 99)
  for (let number = 2; number <= 201; number += 1) notes.note(channel(number), 'x', 1)
  t.is(mappings.writes, 0)
  time.advance(10_000)
  t.is(mappings.writes, 1)
  const unmapped = mappings.kept.get(A)?.unmapped ?? []
  t.deepEqual([unmapped.length, unmapped[0]], [UNMAPPED_MAX, { topic: 't1', at: 99 }])
  t.false(unmapped.some(({ topic }) => topic === 't0'))
  t.is(mappings.kept.size, 200)
  await notes.write()
  time.advance(10_000)
  t.is(mappings.writes, 1)
})
