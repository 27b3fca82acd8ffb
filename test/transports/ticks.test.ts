import test from 'ava'
import * as fc from 'fast-check'

import { SLICE_MS, Ticks } from '#src/transports/ticks'
import type { Ticked } from '#src/transports/ticks'

interface Member extends Ticked<Member> {
  readonly name: string
}

const START = 1_000_000
const named = (name: string): Member => ({
  name,
  tickSlice: undefined,
  tickBefore: undefined,
  tickAfter: undefined,
})

/** The names of the members that have their tick in each slice up to a time. */
function played(ticks: Ticks<Member>, untilMs: number): readonly string[] {
  const said: string[] = []
  for (let at = START + SLICE_MS; at <= START + untilMs; at += SLICE_MS) {
    for (const { name } of ticks.due(at)) said.push(`${name} ${at - START}`)
  }
  return said
}

test('ticks/1: a tick comes at most a slice after its time, never before it', (t) => {
  const ticks = new Ticks<Member>(START)
  for (const [name, afterMs] of Object.entries({ a: 0, b: 1, c: 100, d: 101, e: 20_050 })) {
    ticks.atLatest(named(name), START + afterMs)
  }
  t.deepEqual(played(ticks, 60_000), ['a 100', 'b 100', 'c 100', 'd 200', 'e 20100'])
})

test('atLatest moves a tick to an earlier time, never to a later one', (t) => {
  const ticks = new Ticks<Member>(START)
  const [early, late] = [named('early'), named('late')]
  ticks.atLatest(early, START + 5_000)
  ticks.atLatest(early, START + 1_000)
  ticks.atLatest(late, START + 1_000)
  ticks.atLatest(late, START + 5_000)
  ticks.atLatest(named('none'), Infinity)
  t.deepEqual(played(ticks, 60_000), ['early 1000', 'late 1000'])
})

test('ticks/2: without a new time a member has one tick', (t) => {
  const ticks = new Ticks<Member>(START)
  ticks.atLatest(named('a'), START + 300)
  t.is(played(ticks, 60_000).length, 1)
})

test('a time beyond all slices gets an earlier tick, after which it is planned again', (t) => {
  const ticks = new Ticks<Member>(START)
  ticks.atLatest(named('a'), START + 3_600_000)
  t.deepEqual(played(ticks, 60_000), ['a 25500'])
})

test('after a stop of the process each due tick comes once', (t) => {
  const ticks = new Ticks<Member>(START)
  const names = ['a', 'b', 'c']
  for (const [at, name] of names.entries()) ticks.atLatest(named(name), START + at * 20_000)
  const due = [...ticks.due(START + 3_600_000)].map(({ name }) => name)
  t.deepEqual(due, names)
  t.deepEqual([...ticks.due(START + 3_700_000)], [])
})

test('a member that is removed while others get their tick gets none', (t) => {
  const ticks = new Ticks<Member>(START)
  const members = [named('a'), named('b'), named('c')]
  for (const member of members) ticks.atLatest(member, START + 100)
  const said: string[] = []
  for (const { name } of ticks.due(START + 100)) {
    said.push(name)
    for (const other of members) if (other.name === 'b') ticks.remove(other)
  }
  t.deepEqual(said, ['a', 'c'])
})

test('of many plans and removals in any order each member keeps its earliest plan', (t) => {
  const planned = fc.record({ member: fc.nat(4), slices: fc.nat(9), leaves: fc.boolean() })
  const holds = fc.property(fc.array(planned, { maxLength: 40 }), (plans) => {
    const ticks = new Ticks<Member>(START)
    const members = Array.from('abcde', named)
    const expected = new Map<string, number>()
    for (const { member: index, slices, leaves } of plans) {
      const member = members[index] ?? named('none')
      const at = Math.min(expected.get(member.name) ?? Infinity, (slices + 1) * SLICE_MS)
      if (leaves) ticks.remove(member)
      else ticks.atLatest(member, START + at)
      if (leaves) expected.delete(member.name)
      else expected.set(member.name, at)
    }
    const said = [...expected].map(([name, at]) => `${name} ${at}`)
    t.deepEqual(played(ticks, 60_000).toSorted(), said.toSorted())
  })
  fc.assert(holds)
})
