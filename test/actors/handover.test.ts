// Goal: a lane that is given to another process in order costs no turn, and nobody is fenced.
// (leases/2)
// Method: the store hangs in the middle of what the leases interrupt.

import test from 'ava'

import { systemOver } from '#test/support/actor-system'
import { MemoryLog } from '#test/support/memory-log'
import { MemoryTurnStore } from '#test/support/memory-turn-store'
import { CHANNELS, LANES, running, seqsOf, unknownThing } from '#test/support/running-system'
import { message } from '#test/support/submissions'
import { turn, until } from '#test/support/until'

const SOON_TURNS = 20

/** Tells whether a promise has settled by now, or after some more turns of the event loop. */
function watched(promise: Promise<void>): () => Promise<boolean> {
  let isOver = false
  void promise.then(() => (isOver = true))
  return async () => {
    for (let turns = 0; turns < SOON_TURNS; turns += 1) await turn()
    return isOver
  }
}

test('leases/2: a lane may go to another process once the turn under way has ended', async (t) => {
  const { log, store, leases, system, logger } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  store.faultOf = (call) => (call === 'commit' ? 'hang' : undefined)
  log.put(0, [message()])
  await until('the commit is under way', () => store.hanging === 1)
  const letGo = leases.hold([{ lane: 1, epoch: 1 }])
  t.false(await watched(letGo)())
  log.put(0, [message()])
  store.release()
  await letGo
  t.is(store.feed.length, 1)

  const next = systemOver({ store, log, leases: [{ lane: 0, epoch: 2 }] })
  store.faultOf = () => undefined
  await next.system.start()
  await next.system.drain()
  t.deepEqual(seqsOf(store), [1, 2])
  t.deepEqual([...logger.lines, ...next.logger.lines], [])
})

test('leases/2: behind a backlog lanes go after the decided turns, not after all of it', async (t) => {
  const { log, store, leases } = await running(t, { turnMax: 1 })
  store.faultOf = (call) => (call === 'commit' ? 'hang' : undefined)
  log.put(
    0,
    Array.from({ length: 10 }, () => unknownThing()),
  )
  await until('a turn is decided ahead', () => store.loads.length === 2)
  const letGo = leases.hold([{ lane: 1, epoch: 1 }])
  store.faultOf = () => undefined
  store.release()
  await letGo
  t.is(store.feed.length, 2)
})

test('leases/2: lanes that go while others are being taken are not taken any more', async (t) => {
  const store = new MemoryTurnStore(CHANNELS)
  const log = new MemoryLog()
  const { system, leases, logger } = systemOver({ store, log, leases: LANES })
  store.faultOf = (call) => (call === 'takeLane' ? 'hang' : undefined)
  await system.start()
  t.teardown(() => system.halt())
  await until('lane 0 is being taken', () => store.hanging === 1)
  store.faultOf = () => undefined
  const letGo = leases.hold([{ lane: 0, epoch: 1 }])
  store.release()
  await letGo
  t.is(system.ownedLanes, 1)
  t.deepEqual([...store.lanes.keys()], [0])
  t.deepEqual(logger.lines, [])
})

for (const [what, phase] of [
  ['sleeps', 'running'],
  ['has ended', 'halted'],
] as const) {
  test(`leases/2: a system that ${what} lets go at once`, async (t) => {
    const { leases, system } = await running(t)
    await system.caughtUp
    if (phase === 'halted') await system.halt()
    await leases.hold([])
    t.pass()
  })
}

test('a process announces a lane that it takes once the database has given it', async (t) => {
  const store = new MemoryTurnStore(CHANNELS)
  const log = new MemoryLog()
  const { system, bus } = systemOver({ store, log, leases: LANES })
  store.faultOf = (call) => (call === 'takeLane' ? 'hang' : undefined)
  await system.start()
  t.teardown(() => system.halt())
  await until('lane 0 is being taken', () => store.hanging === 1)
  t.deepEqual(bus.notices, [])
  store.faultOf = () => undefined
  store.release()
  await until('both are taken', () => bus.notices.length === 2)
  t.deepEqual(
    bus.notices,
    LANES.map(({ lane }) => ({ kind: 'lane-taken', lane })),
  )
})

test('refused-leases/1: the actors report a lease that the database refuses to the leases', async (t) => {
  const store = new MemoryTurnStore(CHANNELS)
  await store.takeLane({ lane: 0, epoch: 9 })
  const { system, leases, bus } = systemOver({ store, log: new MemoryLog(), leases: LANES })
  await system.start()
  t.teardown(() => system.halt())
  await until('lane 1 is taken', () => bus.notices.length === 1)
  t.deepEqual(leases.refused, [{ lane: 0, epoch: 1 }])
  await leases.hold([{ lane: 0, epoch: 10 }])
  await until('lane 0 is taken', () => system.ownedLanes === 1)
})

test('leases/2: a system that waits for its store lets go at once', async (t) => {
  const store = new MemoryTurnStore(CHANNELS)
  const log = new MemoryLog()
  const { promise, resolve } = Promise.withResolvers<void>()
  const waiting = (): Promise<void> => promise
  const { system, leases, waits } = systemOver({ store, log, leases: LANES, waiting })
  store.faultOf = () => 'refuse'
  await system.start()
  await until('it waits', () => waits.length > 0)
  await leases.hold([])
  t.is(waits.length, 1)
  resolve()
  await system.halt()
})
