// Method: a fetch whose answers the test gives one by one; time moves only when the test moves it.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { FleetSubmission } from '#src/client/fleet-queue'
import { until } from '#test/support/until'
import {
  fleetRig,
  settled,
  CHANNEL,
  reading,
  message,
  sendAll,
  OK,
  busy,
} from '#test/support/fleet-rig'

test('the sender sends every action to its route, and the outcome has the ids and the tag', async (t) => {
  const at = { ...CHANNEL, observed_at: 1 }
  const when = { ...CHANNEL, event_time: 1 }
  const rows: readonly (readonly [FleetSubmission<string>, string])[] = [
    [message('m'), '/message'],
    [{ model: 'event', action: 'create', body: when }, '/event/create'],
    [{ model: 'event', action: 'update', body: { ...when, event_id: 'e' } }, '/event/update'],
    [{ model: 'event', action: 'close', body: { ...when, event_id: 'f' } }, '/event/close'],
    [{ model: 'thing', action: 'create', body: at }, '/thing/create'],
    [{ model: 'thing', action: 'update', body: { ...at, thing_id: 'a' } }, '/thing/update'],
    [{ model: 'thing', action: 'archive', body: { ...at, thing_id: 'b' } }, '/thing/archive'],
    [{ model: 'thing', action: 'delete', body: { ...at, thing_id: 'c' } }, '/thing/delete'],
  ]
  const fleet = fleetRig()
  await sendAll(
    fleet,
    rows.map(([submission]) => submission),
  )
  t.deepEqual(
    fleet.requests.map(({ path }) => path),
    rows.map(([, path]) => path),
  )
  for (const { answer } of fleet.requests) await answer(OK())
  await fleet.sender.flush()
  t.deepEqual(fleet.said()[0], 'm accepted')
  t.like(fleet.outcomes[1], { kind: 'accepted', ids: { op_id: 'o' } })
  t.like(fleet.sender.progress, { waiting: 0, inFlight: 0, accepted: 8 })
})

test('fleet/1, fleet-queue/1: submissions of one Thing go one after another, others at the same time', async (t) => {
  const fleet = fleetRig()
  const about = message('x2', { thing_id: 'x', occurred_at: 1 })
  await sendAll(fleet, [reading('x', 'x1'), about, reading('y', 'y1'), reading('x', 'x3')])
  t.deepEqual(fleet.tagsUnderWay(), ['x1', 'y1'])
  await fleet.requests[0]?.answer(OK())
  t.deepEqual(fleet.tagsUnderWay(), ['x1', 'y1', 'x2'])
  await fleet.requests[2]?.answer(OK())
  t.deepEqual(fleet.tagsUnderWay(), ['x1', 'y1', 'x2', 'x3'])
})

test('no more requests than connections are in flight', async (t) => {
  const fleet = fleetRig({ connections: 2 })
  await sendAll(
    fleet,
    ['a', 'b', 'c'].map((id) => reading(id, id)),
  )
  t.deepEqual(fleet.tagsUnderWay(), ['a', 'b'])
  await fleet.requests[1]?.answer(OK())
  t.deepEqual(fleet.tagsUnderWay(), ['a', 'b', 'c'])
  for (const connections of [0, 257, 1.5]) {
    t.throws(() => fleetRig({ connections }), { instanceOf: RangeError })
  }
})

test('fleet/3: send waits while the queue is full', async (t) => {
  const fleet = fleetRig({ connections: 1, queue: 2 })
  await sendAll(fleet, [reading('a', 'a'), reading('b', 'b')])
  let isIn = false
  const third = fleet.sender.send(reading('c', 'c')).then(() => (isIn = true))
  await settled()
  t.false(isIn)
  t.like(fleet.sender.progress, { waiting: 1, inFlight: 1 })
  await fleet.requests[0]?.answer(OK())
  t.true(await third)
})

test('fleet/2: stop gives every submission an outcome and leaves no timer', async (t) => {
  const fleet = fleetRig({ connections: 2, queue: 4 })
  await sendAll(
    fleet,
    ['a', 'b', 'c', 'd'].map((id) => reading(id, id)),
  )
  const late = fleet.sender.send(reading('e', 'e'))
  const stopped = fleet.sender.stop()
  await t.throwsAsync(late, { message: 'the sender was stopped' })
  await fleet.requests[0]?.answer(busy())
  await fleet.requests[1]?.answer(OK())
  await stopped
  t.deepEqual([...fleet.said()].toSorted(), ['a refused', 'b accepted', 'c unsent', 'd unsent'])
  t.is(fleet.time.waiting, 0)
  await t.throwsAsync(fleet.sender.send(reading('f', 'f')))
})

async function outcomesOf(t: ExecutionContext, onOutcome: () => void): Promise<number> {
  const fleet = fleetRig({ onOutcome })
  await sendAll(fleet, [reading('a', 'a')])
  await fleet.requests[0]?.answer(OK())
  await fleet.sender.flush()
  t.is(fleet.sender.progress.accepted, 1)
  return fleet.reported.length
}

test('the sender reports an error of onOutcome and goes on', async (t) => {
  const thrown = await outcomesOf(t, () => {
    throw new Error('of the caller')
  })
  t.is(thrown, 1)
})

test('the sender refuses only the submission that cannot be JSON', async (t) => {
  const fleet = fleetRig()
  const attrs = { n: 1n } as unknown as Record<string, number>
  await sendAll(fleet, [
    { ...reading('a', 'a'), body: { ...CHANNEL, thing_id: 'a', observed_at: 1, attrs } } as never,
  ])
  await until('it is told', () => fleet.outcomes.length === 1)
  t.like(fleet.outcomes[0], { kind: 'refused', error: { code: 'body_invalid' } })
})
