// Goal: a lane whose turns fail holds no other lane, and goes on once what fails is set aside.
// Method: a store that refuses what one lane writes, while another lane has submissions.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { placeOf } from '#domain/lane'
import type { TurnWrites } from '#domain/store-ports'
import { systemOver } from '#test/support/actor-system'
import { MemoryLog } from '#test/support/memory-log'
import { MemoryTurnStore, outage } from '#test/support/memory-turn-store'
import { CHANNELS, LANES, running } from '#test/support/running-system'
import { channel, message } from '#test/support/submissions'
import { turn, until } from '#test/support/until'

const inLane1 = () => message({ channelId: channel(2) })

/** Lets every commit fail that moves lane 0. */
function refuseLane0(store: MemoryTurnStore, error: Error): void {
  const commit = store.commit.bind(store)
  store.commit = (writes: TurnWrites) =>
    writes.lanes.some(({ lane }) => lane === 0) ? Promise.reject(error) : commit(writes)
}

for (const [what, error] of [
  ['a defect', new Error('a defect')],
  ['an outage', outage('a lock')],
] as const) {
  test(`lane-troubles/1: a lane for which ${what} never ends holds no other lane`, async (t) => {
    const { log, store, waits } = await running(t)
    refuseLane0(store, error)
    log.put(0, [message(), message()])
    log.put(1, [inLane1()])
    await until('lane 1 goes on', () => store.feed.length === 1)
    await until('lane 0 was tried often', () => waits.length > 20)
    log.put(1, [inLane1()])
    await until('lane 1 goes on', () => store.feed.length === 2)
    t.deepEqual(store.deadLetters, [])
  })
}

test('lane-troubles/1: beside a lane that is never empty, what breaks another is set aside', async (t) => {
  const { log, store } = await running(t, { turnMax: 4 })
  const poison = message()
  store.poison.add(poison.opId)
  const commit = store.commit.bind(store)
  store.commit = (writes) => {
    if (store.feed.length < 1_000) log.put(1, [inLane1(), inLane1(), inLane1(), inLane1()])
    return commit(writes)
  }
  log.put(1, [inLane1()])
  log.put(0, [message(), poison, message()])
  await until('lane 0 is done', () => store.lanes.get(0)?.place === placeOf(2, 0))
  t.is(store.deadLetters.length, 1)
  t.true(store.feed.length < 200, String(store.feed.length))
})

/** A system whose lane 0 pauses between its attempts for as long as the test wants. */
async function pausing(t: ExecutionContext) {
  const store = new MemoryTurnStore(CHANNELS)
  const log = new MemoryLog()
  const { promise, resolve } = Promise.withResolvers<void>()
  const over = systemOver({ store, log, leases: LANES, waiting: () => promise })
  const poison = message()
  store.poison.add(poison.opId)
  log.put(0, [poison])
  await over.system.start()
  t.teardown(() => over.system.halt())
  await until('lane 0 pauses', () => over.waits.includes(50))
  return { ...over, store, log, resolve }
}

test('lane-troubles/2: a lane that pauses keeps no other waiting', async (t) => {
  const { store, log, resolve } = await pausing(t)
  log.put(1, [inLane1()])
  await until('lane 1 goes on', () => store.feed.length === 1)
  t.deepEqual(store.deadLetters, [])
  resolve()
  await until('lane 0 goes on', () => store.deadLetters.length === 1)
})

test('lane-troubles/2: a drain and the end of a start wait for a lane that pauses', async (t) => {
  const { store, system, resolve } = await pausing(t)
  const ended: string[] = []
  void system.caughtUp.then(() => ended.push('caught up'))
  const drained = system.drain().then(() => ended.push('drained'))
  for (let turns = 0; turns < 20; turns += 1) await turn()
  t.deepEqual([ended, store.deadLetters], [[], []])
  resolve()
  await drained
  t.is(store.deadLetters.length, 1)
})
