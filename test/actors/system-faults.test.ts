import test from 'ava'

import { placeOf } from '#domain/lane'
import type { StoreCall, StoreFault } from '#test/support/memory-turn-store'
import { channel, message, opId, thing } from '#test/support/submissions'
import { turn, until } from '#test/support/until'
import {
  LANES,
  running,
  seqsOf,
  statusOf,
  faultOnce,
  unknownThing,
} from '#test/support/running-system'

// Method: each call of the store fails once, in each way.
const calls: readonly StoreCall[] = ['takeLane', 'load', 'commit']

const faults: readonly StoreFault[] = ['refuse', 'lose', 'fence', 'hang']

for (const call of calls) {
  for (const fault of faults) {
    if (call === 'load' && fault === 'fence') continue
    test(`owned-lanes/1: when a ${call} is made to ${fault}, everything is applied once`, async (t) => {
      const { log, store, leases } = await running(t)
      log.put(0, [thing('create', 't'), message()])
      await until('the first entry is applied', () => store.feed.length === 2)

      const isMet = faultOnce(store, call, fault)
      if (call === 'takeLane') void leases.hold(LANES.map(({ lane }) => ({ lane, epoch: 2 })))
      log.put(0, [thing('update', 't', { at: 2 }), unknownThing()])
      await until('the fault was met', isMet)
      for (let turns = 0; turns < 5; turns += 1) await turn()
      store.release()
      if (call === 'takeLane' && fault === 'fence') {
        void leases.hold(LANES.map(({ lane }) => ({ lane, epoch: 3 })))
      }
      await until('the second entry is applied', () => store.feed.length === 4)
      t.deepEqual(seqsOf(store), [1, 2, 3, 4])
      t.like(store.thing(channel(1), 't'), { rev: 2, seq: 3 })
      t.deepEqual(store.deadLetters, [])
    })
  }
}

test('an outage is waited out with growing pauses, and then everything is applied', async (t) => {
  const { log, store, waits, logger, system } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  let outage = 9
  store.faultOf = () => {
    outage -= 1
    return outage >= 0 ? 'refuse' : undefined
  }
  log.put(0, [message()])
  await until('it is applied', () => store.feed.length === 1)
  t.deepEqual(waits, [0, 50, 100, 250, 500, 1000, 2000, 2000])
  t.is(logger.lines.filter(({ level }) => level === 'error').length, 8)
  t.deepEqual(store.deadLetters, [])
})

// Method: each row is the index, in an entry of eight, of the submission that breaks every commit.
for (const index of [0, 3, 7]) {
  test(`W6: a submission at ${index} that breaks its turn is set aside alone`, async (t) => {
    const { log, store, logger, bus, meter } = await running(t)
    const submissions = Array.from({ length: 8 }, () => message())
    const poison = submissions[index] ?? message()
    store.poison.add(poison.opId)
    log.put(0, submissions)
    const position = log.put(0, [message()])
    await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(position, 0))
    await turn()

    t.deepEqual(seqsOf(store), [1, 2, 3, 4, 5, 6, 7, 8])
    t.is(statusOf(store, poison), 'internal_error')
    for (const one of submissions.toSpliced(index, 1)) t.is(statusOf(store, one), 'sent')
    t.like(store.deadLetters[0], { lane: 0, position: 1, index, error: 'Error: poison' })
    t.is(store.deadLetters[0]?.payload, JSON.stringify(poison))
    t.is(store.deadLetters.length, 1)
    t.deepEqual(
      bus.announced.flatMap(({ entries }) => entries),
      store.feed,
    )
    t.is(meter.total('dead_letters_total'), 1)
    t.true(meter.total('turns_retried_total') > 0)
    t.true(logger.lines.some(({ fact }) => fact === 'submissions set aside as dead letters'))
  })
}

test('W6: a submission that was applied is not set aside when answers get lost', async (t) => {
  const { log, store } = await running(t, { turnMax: 1 })
  let commits = 0
  store.faultOf = (call) => {
    if (call === 'commit') commits += 1
    return call === 'commit' && commits <= 3 ? 'lose' : undefined
  }
  const submissions = [message(), message(), message(), message()]
  log.put(0, submissions)
  await until('everything is applied', () => store.feed.length === 4)
  for (const one of submissions) t.is(statusOf(store, one), 'sent')
  t.deepEqual(store.deadLetters, [])
  t.deepEqual(seqsOf(store), [1, 2, 3, 4])
})

for (const call of ['load', 'commit'] as const) {
  test(`W6: nothing is set aside while every ${call} is refused, however often`, async (t) => {
    const { log, store, leases, system, waits } = await running(t)
    await until('the lanes are owned', () => system.ownedLanes === 2)
    let refusals = 0
    store.faultOf = (called) => {
      if (called !== call) return undefined
      refusals += 1
      return 'refuse'
    }
    const submissions = [message(), message()]
    log.put(0, submissions)
    await until('it was tried often', () => refusals > 50)
    await leases.hold(LANES.slice(0, 1))
    await until('a lane is let go meanwhile', () => system.ownedLanes === 1)

    const { length } = waits
    store.faultOf = (called) => (called === call && waits.length === length ? 'refuse' : undefined)
    await until('everything is applied', () => store.feed.length === 2)
    for (const one of submissions) t.is(statusOf(store, one), 'sent')
    t.deepEqual(store.deadLetters, [])
  })
}

test('W6: lanes are let go while a submission that is given up cannot be set aside', async (t) => {
  const { log, store, leases, system, waits } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  store.commit = () => Promise.reject(new Error('a defect'))
  log.put(0, [message()])
  await until('it was tried often', () => waits.length > 50)
  await leases.hold(LANES.slice(0, 1))
  await until('a lane is let go', () => system.ownedLanes === 1)
  t.pass()
})

test('W6: two lanes go on beside a submission that breaks its turn', async (t) => {
  const { log, store } = await running(t)
  const poison = [message(), message()]
  for (const { opId: id } of poison) store.poison.add(id)
  log.put(0, [message(), ...poison, message()])
  log.put(1, [message({ channelId: channel(2) }), message({ channelId: channel(2) })])
  await until('both lanes are done', () => store.operations.size === 6)
  t.deepEqual(seqsOf(store), [1, 2])
  t.deepEqual(seqsOf(store, 2), [1, 2])
  t.is(store.deadLetters.length, 2)
})

test('turn-records/6, turn-records/4: a submission whose op_id a client chose before keeps its effect, without a split', async (t) => {
  const { log, store, waits } = await running(t)
  const first = message({ opId: 'taken', claims: true, channelId: channel(2) })
  log.put(1, [first])
  await until('the first has its record', () => store.operations.size === 1)
  const second = thing('update', 'lamp', { opId: 'taken' })
  log.put(0, [second, message()])
  await until('the lane goes on', () => store.feed.length === 3)
  t.like(store.operations.get(first.opId), { model: 'message', status: 'sent' })
  t.like(store.thing(channel(1), 'lamp'), { rev: 1 })
  t.deepEqual(store.deadLetters, [])
  t.is(store.commits.length, 2, 'the turn is taken again whole')
  t.deepEqual(
    waits.filter((delayMs) => delayMs >= 50),
    [],
  )
  // The refused attempt, after which the turn was careful.
  t.deepEqual(store.violations.splice(0), ['a second record of taken'])
})

test('W6: turns are as large as before once the defect is behind', async (t) => {
  const { log, store } = await running(t, { turnMax: 8 })
  const entry = Array.from({ length: 64 }, () => message())
  store.poison.add(entry[2]?.opId ?? opId('none'))
  log.put(0, entry)
  await until('everything is done', () => store.operations.size === 64)
  const sizes = store.commits.map(({ operations }) => operations.length)
  t.is(Math.max(...sizes.slice(-4)), 8, sizes.join(' '))
})

test('W6: an unreadable item is set aside and the lane goes on', async (t) => {
  const { log, store } = await running(t)
  log.put(0, [{ model: 'unreadable', payload: '?', error: 'no JSON' }, message()])
  await until('the neighbour is applied', () => store.feed.length === 1)
  t.like(store.deadLetters[0], { payload: '?', error: 'no JSON', at: 10_000 })
})
