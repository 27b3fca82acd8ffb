// Goal: whatever the bus loses, repeats or reorders, however slow the device reads and
// acknowledges, and whenever it comes back, it ends with the gateway's own state and has missed
// nothing without being told. Method: random steps (test/support/session-world.ts checks
// session-window/1 and serving/1 after each one), then everything is let through and both sides are
// compared.

import test from 'ava'
import * as fc from 'fast-check'

import type { Step } from '#test/support/session-step'
import { CHANNELS, SessionWorld } from '#test/support/session-world'

const at = fc.nat({ max: 2 })
const id = fc.nat({ max: 3 })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('message'), at, bytes: size() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('thing'), at, id, value: value() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), at, id }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('burst'),
      at,
      count: fc.integer({ min: 50, max: 400 }),
      bytes: fc.constantFrom(1, 5_000),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('announce'),
      at,
      count: fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 400 })),
      how: fc.constantFrom(
        ...(['pass', 'pass', 'pass', 'pass', 'pass', 'lose', 'repeat'] as const),
      ),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('answer'), index: fc.nat(3), isPostponed: rarely() }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('read'), count: fc.nat(200) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('acknowledge') }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reconnect'), withCursors: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('forget'),
      at,
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('subscribe'), isOn: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('tick') }) },
)

function size(): fc.Arbitrary<number> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, fc.constantFrom(20_000, 150_000))
}

function value(): fc.Arbitrary<number | null> {
  return fc.oneof({ weight: 4, arbitrary: fc.nat(9) }, fc.constant(null))
}

function rarely(): fc.Arbitrary<boolean> {
  return fc.nat(9).map((number) => number === 0)
}

test('a device converges to the state of the gateway, and gets a gap for each missed entry', (t) => {
  const property = fc.property(fc.array(step, { minLength: 20, maxLength: 150 }), (steps) => {
    const world = new SessionWorld()
    world.take({ kind: 'reconnect', withCursors: true })
    for (const each of steps) world.take(each)
    world.settle()
    for (const channelId of CHANNELS) {
      if (!world.isSubscribed(channelId)) continue
      const expected = [...world.model.liveThings(channelId)].map(([name, { rev, attrs }]) => [
        name,
        { rev, attrs: Object.fromEntries(attrs) },
      ])
      const known = [...world.view.things(channelId)].map(([name, thing]) => [
        name,
        { rev: thing.rev, attrs: { ...thing.attrs } },
      ])
      t.deepEqual(Object.fromEntries(known), Object.fromEntries(expected))
    }
    t.deepEqual(world.missed(), [])
  })
  fc.assert(property, { numRuns: 100 })
})

test('a Thing that was deleted between two subscriptions does not stay with the device', (t) => {
  const world = new SessionWorld()
  const late = { at: 2, id: 0 } as const
  world.take({ kind: 'subscribe', isOn: true })
  world.take({ kind: 'thing', ...late, value: 1 })
  world.settle()
  t.is(world.view.things(CHANNELS[2]).size, 1)
  world.take({ kind: 'lose' })
  world.take({ kind: 'subscribe', isOn: false })
  world.take({ kind: 'delete', ...late })
  world.take({ kind: 'subscribe', isOn: true })
  world.settle()
  t.is(world.view.things(CHANNELS[2]).size, 0)
})
