import test from 'ava'
import type { ExecutionContext } from 'ava'

import { LogMismatch, placeOf } from '#domain/lane'
import type { Submission } from '#domain/submission'
import { systemOver } from '#test/support/actor-system'
import type { Over } from '#test/support/actor-system'
import { MemoryLog } from '#test/support/memory-log'
import { MemoryTurnStore } from '#test/support/memory-turn-store'
import type { StoreCall, StoreFault } from '#test/support/memory-turn-store'
import { channel, message, opId, thing } from '#test/support/submissions'
import { turn, until } from '#test/support/until'

const CHANNELS = [1, 2, 3].map(channel)
const LANES = [0, 1].map((lane) => ({ lane, epoch: 1 }))

/** A running system over lanes 0 and 1 of a log in memory; halted when the test ends. */
async function running(t: ExecutionContext, options: Over['options'] = {}) {
  const store = new MemoryTurnStore(CHANNELS)
  const log = new MemoryLog()
  const over = systemOver({ store, log, leases: LANES, options })
  await over.system.start()
  t.teardown(async () => {
    store.faultOf = () => undefined
    store.release()
    await over.system.halt()
    if (store.violations.length > 0) throw new Error(store.violations.join('; '))
  })
  return { ...over, store, log }
}

const seqsOf = (store: MemoryTurnStore, number = 1): readonly number[] =>
  store.feed.filter((entry) => entry.channelId === channel(number)).map(({ seq }) => seq)

const statusOf = (store: MemoryTurnStore, { opId: id }: Submission): string | undefined =>
  store.operations.get(id)?.errorCode ?? store.operations.get(id)?.status

/** One fault at the next use of a call, then none. Gives whether it was met. */
function faultOnce(store: MemoryTurnStore, call: StoreCall, fault: StoreFault): () => boolean {
  let isMet = false
  store.faultOf = (called) => {
    if (called !== call || isMet) return undefined
    isMet = true
    return fault
  }
  return () => isMet
}

test('what the log holds is applied, and what comes later too', async (t) => {
  const { log, store, system } = await running(t)
  log.put(0, [message(), message()])
  await until('the first entry is applied', () => store.feed.length === 2)
  log.put(0, [message()])
  log.put(1, [message({ channelId: channel(2) })])
  await until('everything is applied', () => store.feed.length === 4)
  t.deepEqual(seqsOf(store), [1, 2, 3])
  t.deepEqual(seqsOf(store, 2), [1])
  t.is(system.ownedLanes, 2)
  await until('it is counted', () => system.applied === 4)
})

test('T1: announcements and applied notices are made after the commit, and hold it', async (t) => {
  const { log, store, bus, meter } = await running(t)
  store.faultOf = (call) => (call === 'commit' ? 'hang' : undefined)
  const position = log.put(0, [message(), message({ channelId: channel(9) })])
  await until('the commit is under way', () => store.hanging === 1)
  t.deepEqual(bus.announced, [])
  t.deepEqual(bus.notices, [])

  store.release()
  await until('it is announced', () => bus.announced.length > 0)
  t.deepEqual(bus.announced, [{ channelId: channel(1), entries: store.feed }])
  t.deepEqual(bus.notices, [{ kind: 'applied', lane: 0, position }])
  t.is(meter.total('operations_total{sent}'), 1)
  t.is(meter.total('operations_total{failed}'), 1)
})

test('A6: while a turn is under way no other one begins, and the next is one turn', async (t) => {
  const { log, store } = await running(t)
  store.faultOf = (call) => (call === 'commit' ? 'hang' : undefined)
  log.put(0, [message()])
  await until('the commit is under way', () => store.hanging === 1)
  for (let count = 0; count < 20; count += 1) log.put(count % 2, [message()])
  for (let turns = 0; turns < 20; turns += 1) await turn()
  t.is(store.loads.length, 1)
  t.is(store.hanging, 1)

  store.faultOf = () => undefined
  store.release()
  await until('everything is applied', () => store.feed.length === 21)
  t.is(store.commits.length, 2)
})

// Method: every call of the store, and every way in which it can fail once.
const calls: readonly StoreCall[] = ['takeLane', 'load', 'commit']
const faults: readonly StoreFault[] = ['refuse', 'lose', 'fence', 'hang']
for (const call of calls) {
  for (const fault of faults) {
    if (call === 'load' && fault === 'fence') continue
    test(`A7: when a ${call} is told to ${fault}, everything is applied once`, async (t) => {
      const { log, store, leases } = await running(t)
      log.put(0, [thing('create', 't'), message()])
      await until('the first entry is applied', () => store.feed.length === 2)

      const isMet = faultOnce(store, call, fault)
      if (call === 'takeLane') leases.hold(LANES.map(({ lane }) => ({ lane, epoch: 2 })))
      log.put(0, [thing('update', 't', { at: 2 }), message()])
      await until('the fault was met', isMet)
      for (let turns = 0; turns < 5; turns += 1) await turn()
      store.release()
      if (call === 'takeLane' && fault === 'fence') {
        leases.hold(LANES.map(({ lane }) => ({ lane, epoch: 3 })))
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

test('W2: a lane whose epoch another process raised is let go, the others go on', async (t) => {
  const { log, store, logger, system } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  await store.takeLane({ lane: 0, epoch: 7 })
  log.put(0, [message()])
  log.put(1, [message({ channelId: channel(2) })])
  await until('lane 1 goes on', () => seqsOf(store, 2).length === 1)
  t.deepEqual(seqsOf(store), [])
  t.is(system.ownedLanes, 1)
  t.deepEqual(
    logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields),
    [{ lane: 0, epoch: 1 }].map((lease) => ({ ...lease, place: 0, mayHaveMore: true })),
  )
})

test('a lane whose lease is gone is not applied, and is again when it comes back', async (t) => {
  const { log, store, leases, system } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  leases.hold([{ lane: 1, epoch: 1 }])
  await until('lane 0 is let go', () => system.ownedLanes === 1)
  log.put(0, [message()])
  log.put(1, [message({ channelId: channel(2) })])
  await until('lane 1 is applied', () => seqsOf(store, 2).length === 1)
  t.deepEqual(seqsOf(store), [])
  leases.hold([
    { lane: 0, epoch: 2 },
    { lane: 1, epoch: 1 },
  ])
  await until('lane 0 is applied', () => seqsOf(store).length === 1)
})

test('A7: a lane that comes back is applied from what its other owner left', async (t) => {
  const { log, store, leases, system } = await running(t)
  log.put(0, [thing('create', 't', { at: 1, attrs: { on: true } })])
  await until('the first is applied', () => store.feed.length === 1)

  // Another process has the lane for a while and applies two more.
  leases.hold([{ lane: 1, epoch: 1 }])
  await until('lane 0 is let go', () => system.ownedLanes === 1)
  const other = systemOver({ store, log, leases: [{ lane: 0, epoch: 2 }] })
  log.put(0, [message(), thing('update', 't', { at: 5, attrs: { on: false } })])
  await other.system.start()
  await other.system.drain()
  t.is(store.feed.length, 3)

  leases.hold([{ lane: 0, epoch: 3 }])
  log.put(0, [thing('update', 't', { at: 6, attrs: { dim: 1 } })])
  await until('the fourth is applied', () => store.feed.length === 4)
  t.deepEqual(seqsOf(store), [1, 2, 3, 4])
  t.like(store.thing(channel(1), 't'), { rev: 3, seq: 4 })
  t.deepEqual(Object.keys(store.thing(channel(1), 't')?.attrs ?? {}), ['on', 'dim'])
  t.deepEqual(store.violations, [])
})

test('A7: a late reading after a lane came back overwrites nothing with what was', async (t) => {
  const { log, store, leases, system } = await running(t)
  log.put(0, [thing('create', 't', { at: 1, attrs: { on: true } })])
  await until('the first is applied', () => store.feed.length === 1)
  leases.hold([{ lane: 1, epoch: 1 }])
  await until('lane 0 is let go', () => system.ownedLanes === 1)
  const other = systemOver({ store, log, leases: [{ lane: 0, epoch: 2 }] })
  log.put(0, [thing('update', 't', { at: 5, attrs: { on: false } })])
  await other.system.start()
  await other.system.drain()

  // It has no effect, so it takes no seq that could clash; what is kept of the Thing is written.
  const late = thing('update', 't', { at: 1, attrs: { on: true } })
  leases.hold([{ lane: 0, epoch: 3 }])
  log.put(0, [late])
  await until('the late reading has its record', () => statusOf(store, late) === 'sent')
  t.like(store.thing(channel(1), 't'), { rev: 2, seq: 2, at: 5 })
  t.deepEqual(store.thing(channel(1), 't')?.attrs['on'], [false, 5])
})

// Method: where the submission stands that breaks every commit, in an entry of eight.
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

test('W6: turns are as large as before once the defect is behind', async (t) => {
  const { log, store } = await running(t, { turnMax: 8 })
  const entry = Array.from({ length: 64 }, () => message())
  store.poison.add(entry[2]?.opId ?? opId('none'))
  log.put(0, entry)
  await until('everything is done', () => store.operations.size === 64)
  const sizes = store.commits.map(({ operations }) => operations.length)
  t.is(Math.max(...sizes.slice(-4)), 8, sizes.join(' '))
})

test('W6: what cannot be read is set aside and the lane goes on', async (t) => {
  const { log, store } = await running(t)
  log.put(0, [{ model: 'unreadable', payload: '?', error: 'no JSON' }, message()])
  await until('the neighbour is applied', () => store.feed.length === 1)
  t.like(store.deadLetters[0], { payload: '?', error: 'no JSON', at: 10_000 })
})

test('a wake-up while the log is being read is not lost', async (t) => {
  const { log, store, system } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  // The read that the first entry causes has looked already when the second one comes.
  log.beforeRead = () => {
    log.beforeRead = () => Promise.resolve()
    log.put(0, [message()])
    return Promise.resolve()
  }
  log.put(0, [message()])
  await t.notThrowsAsync(until('both are applied', () => store.feed.length === 2))
})

test('a wake-up for an idle lane during the read of another one is not lost', async (t) => {
  const { log, store, system } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  for (let turns = 0; turns < 5; turns += 1) await turn()
  for (let count = 1; count <= 20; count += 1) {
    log.beforeRead = (lane) => {
      log.beforeRead = () => Promise.resolve()
      log.put(1 - lane, [message()])
      return Promise.resolve()
    }
    log.put(count % 2, [message()])
    await until('both are applied', () => store.feed.length === 2 * count)
  }
  t.is(store.feed.length, 40)
})

test('draining applies everything that the log holds, then stops', async (t) => {
  const { log, store, system } = await running(t, { turnMax: 3 })
  for (let count = 0; count < 10; count += 1) log.put(count % 2, [message(), message()])
  await system.drain()
  t.is(store.feed.length, 20)
  log.put(0, [message()])
  for (let turns = 0; turns < 5; turns += 1) await turn()
  t.is(store.feed.length, 20)
})

// Method: what comes while the last read is under way, after it has looked.
for (const what of ['an entry', 'a lease']) {
  test(`draining applies what ${what} brings while the log is being read`, async (t) => {
    const { log, store, system, leases } = await running(t)
    await until('the lanes are owned', () => system.ownedLanes === 2)
    leases.hold([{ lane: 0, epoch: 1 }])
    await until('lane 1 is let go', () => system.ownedLanes === 1)
    log.put(1, [message({ channelId: channel(2) })])
    const drained: Promise<void>[] = []
    log.beforeRead = () => {
      log.beforeRead = () => Promise.resolve()
      if (what === 'an entry') log.put(0, [message()])
      else leases.hold(LANES)
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

test('A5: actors beyond the limit go to sleep, and nothing is lost by it', async (t) => {
  const { log, store, meter } = await running(t, { liveMax: 1 })
  for (let count = 1; count <= 12; count += 1) {
    const channelId = channel(1 + (count % 3))
    log.put(0, [thing('update', 't', { at: count, channelId, attrs: { count } })])
    await until('it is applied', () => store.feed.length === count)
    await turn()
    t.is(meter.gauges.get('live_actors')?.(), 1)
    t.is(meter.gauges.get('cached_entities')?.(), 1)
  }
  for (const number of [1, 2, 3]) t.deepEqual(seqsOf(store, number), [1, 2, 3, 4])
  t.like(store.thing(channel(1), 't'), { rev: 4 })
})

test('A5: an actor that is idle goes to sleep', async (t) => {
  const { log, store, meter, clock } = await running(t, { idleMs: 500 })
  log.put(0, [message()])
  await until('it is applied', () => store.feed.length === 1)
  clock.now += 10_000
  log.put(0, [message({ channelId: channel(2) })])
  await until('it is applied', () => store.feed.length === 2)
  await turn()
  t.is(meter.gauges.get('live_actors')?.(), 1)
})

test('a channel that was deleted is forgotten', async (t) => {
  const { log, store, bus } = await running(t)
  log.put(0, [message()])
  await until('it is applied', () => store.feed.length === 1)
  store.heads.delete(channel(1))
  bus.notify({ kind: 'channel-deleted', channelId: channel(1) })
  const late = message()
  log.put(0, [late])
  await until('the late one has its record', () => store.operations.size === 2)
  t.is(statusOf(store, late), 'channel_not_found')
})

// Method: how long a turn took, and the rest behind it.
for (const [tookMs, waits] of [
  [0, []],
  [1, [3]],
  [5, [15]],
  [8, [12]],
  [19, [1]],
  [20, []],
  [300, []],
] as const) {
  test(`A6: a turn of ${tookMs} ms is followed by a rest of ${waits[0] ?? 'no'} ms`, async (t) => {
    const over = await running(t)
    over.store.faultOf = (call) => {
      if (call === 'commit') over.clock.now += tookMs
      return undefined
    }
    over.log.put(0, [message()])
    await until('the turn is over', () => over.system.applied === 1)
    await over.system.drain()
    t.deepEqual(over.waits, waits)
  })
}

test('A6: a turn that is full is followed by the next one', async (t) => {
  const { log, store, system, waits, clock } = await running(t, { turnMax: 1 })
  store.faultOf = (call) => {
    if (call === 'commit') clock.now += 5
    return undefined
  }
  log.put(0, [message(), message()])
  await until('both turns are over', () => system.applied === 2)
  t.deepEqual(waits, [])
})

test('W4: purging goes up to what is applied whole, and keeps what is young', async (t) => {
  const { log, store, system, clock } = await running(t, { turnMax: 3 })
  const position = log.put(0, [message(), message()])
  log.put(0, [message(), message()])
  // The third turn hangs, so of the second entry one submission is applied and one is not.
  let commits = 0
  store.faultOf = (call) => {
    if (call !== 'commit') return undefined
    commits += 1
    return commits > 1 ? 'hang' : undefined
  }
  await until('the second turn hangs', () => store.hanging === 1)
  clock.now = 20_000
  await system.purge()
  t.deepEqual(log.purges, [
    { lane: 0, through: position, olderThanMs: 17_000 },
    { lane: 1, through: 0, olderThanMs: 17_000 },
  ])
})

test('a system has caught up once what the log held at its start is applied', async (t) => {
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

test('W4: nothing is purged before what was applied is on the disk', async (t) => {
  const { log, store, system } = await running(t)
  const position = log.put(0, [message()])
  await until('it is applied', () => system.applied === 1)
  store.faultOf = (call) => (call === 'settle' ? 'hang' : undefined)
  const purging = system.purge()
  await until('the store settles', () => store.hanging === 1)
  t.deepEqual(log.purges, [])
  log.put(0, [message()])
  await until('more is applied meanwhile', () => system.applied === 2)
  store.release()
  await purging
  t.is(log.purges[0]?.through, position)
})

test('lanes take turns when there is more than one turn can hold', async (t) => {
  const { log, store, bus } = await running(t, { turnMax: 2 })
  store.faultOf = (call) => (call === 'commit' && store.commits.length === 0 ? 'hang' : undefined)
  log.put(0, [message()])
  await until('the first turn is under way', () => store.hanging === 1)
  log.put(
    0,
    Array.from({ length: 6 }, () => message()),
  )
  log.put(
    1,
    Array.from({ length: 6 }, () => message({ channelId: channel(2) })),
  )
  store.release()
  await until('everything is applied', () => store.feed.length === 13)
  const order = bus.announced.map(({ channelId }) => (channelId === channel(1) ? 'a' : 'b'))
  t.regex(order.join(''), /^a(?!aaa)(?!bbb)/)
})
