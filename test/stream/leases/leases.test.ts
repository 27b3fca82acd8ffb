import test from 'ava'

import { DEAD_MS, LEASE_MS, RENEW_MS } from '#src/stream/leases/leases'
import { FakeBus } from '#test/support/fake-bus'
import { LANES, LEAVE_MS_MAX, Meeting } from '#test/support/lease-meeting'
import type { Member } from '#test/support/lease-meeting'

const ALL = Array.from({ length: LANES }, (_, lane) => lane)
const lanesOf = (members: readonly Member[]): readonly number[] =>
  members.flatMap(({ held }) => held).toSorted((one, other) => one - other)

test('three nodes share the lanes as they join, and each lane has one owner', async (t) => {
  const meeting = new Meeting()
  const members: Member[] = []
  for (const [name, shares] of [
    ['one', [16]],
    ['two', [8, 8]],
    ['three', [5, 5, 6]],
  ] as const) {
    members.push(await meeting.join(t, name))
    // Nobody waits for a renewal: those who have too much are told.
    await meeting.runtime.settle()
    t.deepEqual(lanesOf(members), ALL)
    const held = members.map((member) => member.held.length)
    t.deepEqual(
      held.toSorted((one, other) => one - other),
      shares,
    )
  }
})

test('lanes move without a notice too, by the next renewal', async (t) => {
  const meeting = new Meeting()
  const one = await meeting.join(t, 'one')
  meeting.bus = new FakeBus()
  const two = await meeting.join(t, 'two')
  t.is(two.held.length, 0)
  await meeting.pass(3 * RENEW_MS)
  t.deepEqual([one.held.length, two.held.length], [8, 8])
})

test('a lane gets a greater epoch with each owner, once the one before has given it up', async (t) => {
  const meeting = new Meeting()
  const [one, two] = [await meeting.join(t, 'one'), await meeting.join(t, 'two')]
  const epochs = (of: Member): readonly number[] => (of.told.at(-1) ?? []).map(({ epoch }) => epoch)
  t.true(epochs(one).every((epoch) => epoch === 1))
  t.true(epochs(two).every((epoch) => epoch === 2))
  await meeting.runtime.until(two.leave())
  await meeting.runtime.settle()
  t.deepEqual(lanesOf([one, two]), ALL)
  t.is(epochs(one).filter((epoch) => epoch === 3).length, 8)
})

test('a node takes the lanes of another one at once when that leaves', async (t) => {
  const meeting = new Meeting()
  const [one, two] = [await meeting.join(t, 'one'), await meeting.join(t, 'two')]
  const startMs = meeting.runtime.monotonicMs()
  const leaving = two.leave()
  await meeting.runtime.settle()
  t.is(one.held.length, LANES)
  t.is(meeting.runtime.monotonicMs(), startMs)
  await leaving
})

test('a node takes the lanes of a dead one as soon as that counts as dead', async (t) => {
  const meeting = new Meeting()
  const [one, two] = [await meeting.join(t, 'one'), await meeting.join(t, 'two')]
  await meeting.pass(DEAD_MS)
  const [renewedMs] = [...meeting.table.holders].flatMap(([session, at]) =>
    session.startsWith('two') ? [at] : [],
  )
  two.kill()
  await meeting.pass((renewedMs ?? 0) + DEAD_MS - meeting.runtime.monotonicMs())
  t.is(one.held.length, 8)
  await meeting.pass(2)
  t.is(one.held.length, LANES)
  t.is(two.held.length, 0)
  for (const [index, held] of one.told.entries()) {
    t.notDeepEqual(held, one.told[index + 1], 'leases/3: every list differs from the one before')
  }
})

test('leases/1: a node that cannot renew holds nothing before others may treat it as dead', async (t) => {
  for (const away of ['refused', 'silent'] as const) {
    const meeting = new Meeting()
    const one = await meeting.join(t, 'one')
    const renewedMs = Math.max(...meeting.table.holders.values())
    one.fateOf = () => away
    await meeting.pass(renewedMs + LEASE_MS - 1 - meeting.runtime.monotonicMs())
    t.is(one.held.length, LANES)
    await meeting.pass(1)
    t.is(one.held.length, 0)
    t.true(one.facts().includes('leases lost: not renewed in time'))
    t.is(one.facts().filter((fact) => fact === 'could not renew the leases').length, 1)
    one.fateOf = () => 'well'
    await meeting.pass(2 * DEAD_MS)
    t.is(one.held.length, LANES)
    t.true(
      meeting.table.rows.every(({ epoch }) => epoch === 1),
      'nobody has taken them meanwhile',
    )
  }
})

test('leases/1: what a node that slept hears of its last question counts no more', async (t) => {
  const meeting = new Meeting()
  const one = await meeting.join(t, 'one')
  const heard = Promise.withResolvers<void>()
  one.fateOf = (call) => (call === 'view' ? heard.promise : 'well')
  await meeting.pass(RENEW_MS)
  t.is(one.held.length, LANES)
  meeting.runtime.hold(LEASE_MS)
  heard.resolve()
  await meeting.runtime.settle()
  t.is(one.held.length, 0)
})

test('leases/2: a node releases a lane only after its actors have stopped', async (t) => {
  const meeting = new Meeting()
  const stopped = Promise.withResolvers<void>()
  const one = await meeting.join(t, 'one', stopped.promise)
  const two = await meeting.join(t, 'two')
  await meeting.pass(500)
  t.deepEqual([one.held.length, two.held.length], [8, 0])
  stopped.resolve()
  await meeting.runtime.settle()
  t.is(two.held.length, 8)
})

test('leases/2: it waits a second for them, no longer', async (t) => {
  const meeting = new Meeting()
  const one = await meeting.join(t, 'one', new Promise(() => {}))
  const two = await meeting.join(t, 'two')
  await meeting.pass(1_500)
  t.deepEqual([one.held.length, two.held.length], [8, 8])
})

test('leases/4: when the database was away for all nodes, each keeps its lanes', async (t) => {
  const meeting = new Meeting()
  const members = [await meeting.join(t, 'one'), await meeting.join(t, 'two')]
  const owners = meeting.table.rows.map((row) => ({ ...row }))
  for (const member of members) member.fateOf = () => 'refused'
  await meeting.pass(5_000)
  t.deepEqual(lanesOf(members), [])
  const [one, two] = members
  if (one === undefined || two === undefined) return t.fail()
  one.fateOf = () => 'well'
  await meeting.pass(RENEW_MS + 1)
  t.is(one.held.length, 8)
  two.fateOf = () => 'well'
  await meeting.pass(2 * DEAD_MS)
  t.deepEqual(lanesOf(members), ALL)
  t.deepEqual(meeting.table.rows, owners)
})

test('leases/4: a node that stays away after that loses its lanes', async (t) => {
  const meeting = new Meeting()
  const [one, two] = [await meeting.join(t, 'one'), await meeting.join(t, 'two')]
  for (const member of [one, two]) member.fateOf = () => 'refused'
  await meeting.pass(5_000)
  one.fateOf = () => 'well'
  await meeting.pass(RENEW_MS + 2 * DEAD_MS)
  t.is(one.held.length, LANES)
})

test('leases/5: a node that the log does not answer loses its lanes to the others', async (t) => {
  const meeting = new Meeting()
  const [one, two] = [await meeting.join(t, 'one'), await meeting.join(t, 'two')]
  two.hasLog = false
  await meeting.pass(LEASE_MS)
  t.is(two.held.length, 0)
  await meeting.pass(DEAD_MS)
  t.is(one.held.length, LANES)
})

test('a lane that a hanging owner has locked is taken later; the others at once', async (t) => {
  const meeting = new Meeting()
  const [one, two] = [await meeting.join(t, 'one'), await meeting.join(t, 'two')]
  await meeting.pass(DEAD_MS)
  const [locked = 0] = two.held
  meeting.table.locked.add(locked)
  two.kill()
  await meeting.pass(DEAD_MS + RENEW_MS)
  t.is(one.held.length, LANES - 1)
  const before = meeting.table.calls.length
  await meeting.pass(10 * RENEW_MS)
  t.true(meeting.table.calls.length - before <= 3 * 12, 'it asks once a renewal, not all the time')
  meeting.table.locked.clear()
  await meeting.pass(2 * RENEW_MS)
  t.is(one.held.length, LANES)
})

test('a refused lease is looked at again at once', async (t) => {
  const meeting = new Meeting()
  const one = await meeting.join(t, 'one')
  await meeting.pass(DEAD_MS + 1)
  const [row] = meeting.table.rows
  Object.assign(row ?? {}, { owner: 'another', epoch: 9 })
  meeting.table.holders.set('another', meeting.runtime.monotonicMs())
  one.leases.fenced()
  await meeting.runtime.settle()
  t.false(one.held.includes(0))
})

test('a node at rest asks the database twice a renewal', async (t) => {
  const meeting = new Meeting()
  await meeting.join(t, 'one')
  await meeting.pass(DEAD_MS)
  const before = meeting.table.calls.length
  await meeting.pass(10 * RENEW_MS)
  t.deepEqual(
    Object.entries(Object.groupBy(meeting.table.calls.slice(before), (call) => call)).map(
      ([call, calls]) => [call, calls?.length],
    ),
    [
      ['renew', 10],
      ['view', 10],
    ],
  )
})

test('a node whose database is silent leaves within its bounds', async (t) => {
  const meeting = new Meeting()
  const one = await meeting.join(t, 'one')
  one.kill()
  await meeting.pass(RENEW_MS)
  const left = one.leave()
  await meeting.pass(LEAVE_MS_MAX)
  await left
  t.true(one.facts().includes('could not release the leases'))
})
