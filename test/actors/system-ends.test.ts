import test from 'ava'

import { LogMismatch, placeOf } from '#domain/lane'
import { systemOver } from '#test/support/actor-system'
import { MemoryLog } from '#test/support/memory-log'
import { MemoryTurnStore } from '#test/support/memory-turn-store'
import { channel, message } from '#test/support/submissions'
import { turn, until } from '#test/support/until'
import { CHANNELS, LANES, running, seqsOf } from '#test/support/running-system'

test('draining applies everything that the log holds, then stops', async (t) => {
  const { log, store, system } = await running(t, { turnMax: 3 })
  for (let count = 0; count < 10; count += 1) log.put(count % 2, [message(), message()])
  await system.drain()
  t.is(store.feed.length, 20)
  log.put(0, [message()])
  for (let turns = 0; turns < 5; turns += 1) await turn()
  t.is(store.feed.length, 20)
})

// Method: each row comes while the last read is under way, after it has looked.
for (const what of ['an entry', 'a lease']) {
  test(`draining applies the submissions that ${what} brings while the log is being read`, async (t) => {
    const { log, store, system, leases } = await running(t)
    await until('the lanes are owned', () => system.ownedLanes === 2)
    void leases.hold([{ lane: 0, epoch: 1 }])
    await until('lane 1 is let go', () => system.ownedLanes === 1)
    log.put(1, [message({ channelId: channel(2) })])
    const drained: Promise<void>[] = []
    log.beforeRead = () => {
      log.beforeRead = () => Promise.resolve()
      if (what === 'an entry') log.put(0, [message()])
      else void leases.hold(LANES)
      drained.push(system.drain())
      return Promise.resolve()
    }
    log.put(0, [])
    await until('the drain began', () => drained.length === 1)
    await Promise.all(drained)
    t.is(store.feed.length, 1)
  })
}

test('draining waits for a store that does not answer', async (t) => {
  const { log, store, system } = await running(t)
  let outage = 6
  store.faultOf = () => {
    outage -= 1
    return outage >= 0 ? 'refuse' : undefined
  }
  log.put(0, [message()])
  await system.drain()
  t.is(store.feed.length, 1)
})

test('halting stops after the turn that is under way, and the rest stays in the log', async (t) => {
  const { log, store, system } = await running(t, { turnMax: 1 })
  store.faultOf = (call) => (call === 'commit' ? 'hang' : undefined)
  log.put(0, [message(), message(), message()])
  await until('the commit is under way', () => store.hanging === 1)
  const halted = system.halt()
  store.faultOf = () => undefined
  store.release()
  await halted
  t.is(store.feed.length, 1)
  t.is(store.lanes.get(0)?.place, placeOf(0, 1))

  const next = systemOver({ store, log, leases: [{ lane: 0, epoch: 2 }] })
  await next.system.start()
  await next.system.drain()
  t.deepEqual(seqsOf(store), [1, 2, 3])
})

test('halting ends a drain that waits for an outage', async (t) => {
  const { log, store, system } = await running(t)
  store.faultOf = () => 'refuse'
  log.put(0, [message()])
  const drained = system.drain()
  for (let turns = 0; turns < 20; turns += 1) await turn()
  await system.halt()
  await drained
  t.is(store.feed.length, 0)
})

test('halting ends a lane whose defect cannot even be set aside', async (t) => {
  const { log, store, system, waits } = await running(t)
  store.faultOf = (call) => (call === 'commit' ? 'refuse' : undefined)
  log.put(0, [message()])
  await until('it was tried some times', () => waits.length > 5)
  let isHalted = false
  void system.halt().then(() => {
    isHalted = true
  })
  await until('it has halted', () => isHalted)
  t.is(store.feed.length, 0)
  t.is(store.lanes.get(0)?.place, 0)
})

test('a system has caught up once everything in the log at its start is applied', async (t) => {
  const log = new MemoryLog()
  const store = new MemoryTurnStore(CHANNELS)
  log.put(0, [message(), message(), message()])
  let commits = 0
  store.faultOf = (call) => {
    if (call === 'commit') commits += 1
    return commits === 3 ? 'hang' : undefined
  }
  const leases = [{ lane: 0, epoch: 1 }]
  const { system } = systemOver({ store, log, leases, options: { turnMax: 1 } })
  let hasCaughtUp = false
  void system.caughtUp.then(() => (hasCaughtUp = true))
  await system.start()
  t.teardown(() => system.halt())
  await until('the last turn hangs', () => store.hanging === 1)
  t.false(hasCaughtUp)
  store.release()
  await system.caughtUp
  t.is(system.applied, 3)
})

test('W5: a log that cannot be followed any more ends the system, which says so', async (t) => {
  const { log, system, mismatches } = await running(t)
  log.beforeRead = () => Promise.reject(new LogMismatch('entries were lost'))
  log.put(0, [message()])
  await until('it was told', () => mismatches.length > 0)
  await system.drain()
  t.deepEqual(mismatches, ['entries were lost'])
  t.is(system.applied, 0)
})

test('W4: nothing is purged before applied turns are on the disk', async (t) => {
  const { log, store, system } = await running(t)
  const position = log.put(0, [message()])
  await until('it is applied', () => system.applied === 1)
  store.faultOf = (call) => (call === 'untilDurable' ? 'hang' : undefined)
  const purging = system.purge()
  await until('the store settles', () => store.hanging === 1)
  t.deepEqual(log.purges, [])
  log.put(0, [message()])
  await until('more is applied meanwhile', () => system.applied === 2)
  store.release()
  await purging
  t.is(log.purges[0]?.through, position)
})
