import test from 'ava'
import * as fc from 'fast-check'

import { planLeases } from '#src/stream/jetstream/lease-plan'
import type { LaneKey, LeaseView } from '#src/stream/jetstream/lease-plan'
import { Placement, placementOf } from '#src/stream/jetstream/placement'

const LIMITS = { placement: new Placement(4), deadMs: 1000 }
const self = { session: 'me-1', name: 'me' }

const everyLane = (owner: string): ReadonlyMap<number, LaneKey> =>
  new Map([0, 1, 2, 3].map((lane) => [lane, { owner, revision: lane + 10 }]))

const viewOf = (part: Partial<LeaseView>): LeaseView => ({
  self,
  validUntilMs: 5000,
  nodes: [],
  lanes: new Map(),
  epochBase: 100,
  ...part,
})

const ordered = (lanes: readonly number[]): readonly number[] => lanes.toSorted((a, b) => a - b)

test('the only node takes the lanes that nobody owns', (t) => {
  const plan = planLeases(viewOf({}), 1000, LIMITS)
  t.deepEqual(ordered(plan.take), [0, 1, 2, 3])
  t.deepEqual([plan.held, plan.release], [[], []])
})

test("an epoch is the base plus the key's revision", (t) => {
  const { held } = planLeases(viewOf({ lanes: everyLane('me-1') }), 1000, LIMITS)
  t.deepEqual(
    held,
    [0, 1, 2, 3].map((lane) => ({ lane, epoch: 110 + lane })),
  )
})

test('lease-plan/1: a node holds its lanes until one millisecond before its time ends', (t) => {
  const view = viewOf({ lanes: everyLane('me-1') })
  t.is(planLeases(view, 4999, LIMITS).held.length, 4)
  t.deepEqual(planLeases(view, 5000, LIMITS), { held: [], take: [], release: [] })
})

test('lease-plan/2: a node waits for the lanes of a live owner and takes those of a dead one', (t) => {
  const other = { session: 'other-1', name: 'other', lastHeartbeatMs: 1000 }
  const view = viewOf({ lanes: everyLane('other-1'), nodes: [other] })
  t.deepEqual(planLeases(view, 2000, LIMITS).take, [])
  t.is(planLeases(view, 2001, LIMITS).take.length, 4)
})

test('a node releases a lane that belongs to another node, and no longer holds it', (t) => {
  const other = { session: 'other-1', name: 'other', lastHeartbeatMs: 1000 }
  const plan = planLeases(viewOf({ lanes: everyLane('me-1'), nodes: [other] }), 1500, LIMITS)
  t.is(plan.release.length, 2)
  t.is(plan.held.length, 2)
  t.deepEqual(ordered([...plan.release, ...plan.held.map(({ lane }) => lane)]), [0, 1, 2, 3])
})

const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 })
const nodesOf = (all: readonly string[]) => all.map((name) => ({ session: `${name}!`, name }))

test('placement/1, placement/2: each lane has one node in any order of the nodes, and no node exceeds its share', (t) => {
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 64 }), (all, lanes) => {
      const nodes = nodesOf(all)
      const placement = placementOf(lanes, nodes)
      t.is(placement.size, lanes)
      t.deepEqual(placementOf(lanes, nodes.toReversed()), placement)
      const loads = nodes.map(
        ({ session }) => [...placement.values()].filter((one) => one === session).length,
      )
      t.true(Math.max(...loads) <= Math.ceil(lanes / nodes.length))
    }),
    { numRuns: 50 },
  )
})

test('a node that joins moves at most half of the lanes', (t) => {
  const before = placementOf(64, nodesOf(['a', 'b', 'c']))
  const after = placementOf(64, nodesOf(['a', 'b', 'c', 'd']))
  const moved = [...after].filter(([lane, session]) => before.get(lane) !== session)
  t.true(moved.length <= 32, `${moved.length} of 64 lanes moved`)
})

test('placement/3: Placement computes nothing while the same nodes live', (t) => {
  const placement = new Placement(64)
  const nodes = [self, ...nodesOf(['a', 'b'])]
  const first = placement.of(nodes)
  t.is(placement.of(nodes.toReversed()), first)
  const others = nodes.slice(1).map((node) => ({ ...node, lastHeartbeatMs: 1000 }))
  planLeases(viewOf({ nodes: others }), 1500, { placement, deadMs: 1000 })
  t.is(placement.of(nodes), first)
  t.not(placement.of(nodes.slice(1)), first)
})

test('placement/3: Placement computes a new placement for other nodes, in any order', (t) => {
  const placement = new Placement(64)
  for (const all of [['a', 'b'], ['b', 'a'], ['a', 'b', 'c'], ['a'], []]) {
    const nodes = nodesOf(all)
    t.deepEqual(placement.of(nodes), placementOf(64, nodes))
  }
})
