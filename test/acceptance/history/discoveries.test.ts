// Goal: what devices say of attrs is written together, once, and within its bounds.

import test from 'ava'

import { DISCOVERED_MAX } from '#domain/history/presentation'
import type { Discovered } from '#domain/history/presentation'
import { Discoveries } from '#src/acceptance/history/discoveries'
import { FakePresentations } from '#test/support/fake-presentations'
import { FakeTime } from '#test/support/fake-timers'
import { channel } from '#test/support/submissions'
import { until } from '#test/support/until'

const A = channel(1)
const POWER: Discovered = { power: { unit: 'W' } }

function rig() {
  const presentations = new FakePresentations()
  const time = new FakeTime(0)
  return { presentations, time, discoveries: new Discoveries({ presentations, timers: time }) }
}

const attrsOf = (count: number): Discovered =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, { unit: 'W' }]))

test('discoveries/1: what devices say is written together, ten seconds after the first', async (t) => {
  const { presentations, time, discoveries } = rig()
  discoveries.note(A, {})
  time.advance(10_000)
  discoveries.note(A, POWER)
  discoveries.note(A, { flow: { unit: 'l' } })
  discoveries.note(channel(2), POWER)
  t.deepEqual([presentations.writes, discoveries.waiting], [0, 3])
  time.advance(10_000)
  await until('they are written', () => presentations.writes === 1)
  const kept = presentations.kept.get(A)?.discovered
  t.deepEqual(JSON.parse(kept ?? ''), { power: { unit: 'W' }, flow: { unit: 'l' } })
  t.deepEqual([presentations.kept.size, discoveries.waiting], [2, 0])
})

test('discoveries/1: attrs of 200 channels wait, 10,000 in all', async (t) => {
  const { presentations, discoveries } = rig()
  for (let number = 1; number <= 201; number += 1) discoveries.note(channel(number), POWER)
  t.is(discoveries.waiting, 200)
  await discoveries.write()
  t.is(presentations.kept.size, 200)
  discoveries.note(channel(40), attrsOf(DISCOVERED_MAX + 1))
  t.is(discoveries.waiting, DISCOVERED_MAX)
  for (let number = 1; number < 40; number += 1) discoveries.note(channel(number), attrsOf(250))
  t.is(discoveries.waiting, DISCOVERED_MAX + 38 * 250)
  discoveries.note(channel(100), attrsOf(10_000 - discoveries.waiting))
  t.is(discoveries.waiting, 10_000)
  discoveries.note(channel(101), POWER)
  t.is(discoveries.waiting, 10_000)
})

test('discoveries/2: what is known already is not written again', async (t) => {
  const { presentations, discoveries } = rig()
  for (const [said, writes] of [
    [POWER, 1],
    [POWER, 1],
    [{ power: { label: 'Power' } }, 2],
    [{ power: { unit: 'W', label: 'Power' } }, 2],
    [{ power: { unit: 'VA' } }, 3],
    [POWER, 3],
  ] as const) {
    discoveries.note(A, said)
    await discoveries.write()
    t.is(presentations.writes, writes, JSON.stringify(said))
  }
})

test('what the store cannot take is left out until it is said again', async (t) => {
  const { presentations, discoveries } = rig()
  const find = presentations.find.bind(presentations)
  presentations.find = () => Promise.reject(new Error('the store is away'))
  discoveries.note(A, POWER)
  await discoveries.write()
  presentations.find = find
  await discoveries.write()
  t.is(presentations.writes, 0)
  discoveries.note(A, POWER)
  await discoveries.write()
  t.is(presentations.writes, 1)
})
