import test from 'ava'
import type { ExecutionContext } from 'ava'

import { NO_FIELDS } from '#domain/patch'
import type { Submission } from '#domain/submission'
import { systemOver } from '#test/support/actor-system'
import { channel, message, thing } from '#test/support/submissions'
import { turn, until } from '#test/support/until'
import { running, seqsOf, statusOf } from '#test/support/running-system'

test('submissions in the log are applied, and later ones too', async (t) => {
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

test('turn/1: announcements and applied notices are made after the commit, and hold it', async (t) => {
  const { log, store, bus, meter } = await running(t)
  store.faultOf = (call) => (call === 'commit' ? 'hang' : undefined)
  const position = log.put(0, [message(), message({ channelId: channel(9) })])
  await until('the commit is under way', () => store.hanging === 1)
  t.deepEqual(bus.announced, [])
  const taken = bus.notices.splice(0)
  t.true(taken.every(({ kind }) => kind === 'lane-taken'))

  store.release()
  await until('it is announced', () => bus.announced.length > 0)
  t.deepEqual(bus.announced, [{ channelId: channel(1), entries: store.feed }])
  t.deepEqual(bus.notices, [{ kind: 'applied', lane: 0, position }])
  t.is(meter.total('operations_total{sent}'), 1)
  t.is(meter.total('operations_total{failed}'), 1)
})

test('turn-line/1: while a turn is under way no other one begins, and the next is one turn', async (t) => {
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

// Method: a turn with both lanes is full, or not.
for (const turnMax of [2, 512]) {
  test(`W2: a lane that another process took is let go, others go on (${turnMax})`, async (t) => {
    const { log, store, logger, system, leases } = await running(t, { turnMax })
    await until('the lanes are owned', () => system.ownedLanes === 2)
    t.deepEqual(leases.refused, [])
    await store.takeLane({ lane: 0, epoch: 7 })
    log.put(0, [message()])
    log.put(1, [message({ channelId: channel(2) })])
    await until('lane 1 goes on', () => seqsOf(store, 2).length === 1)
    t.deepEqual(seqsOf(store), [])
    t.is(system.ownedLanes, 1)
    t.deepEqual(
      logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields),
      [{ lane: 0, epoch: 1 }],
    )
    t.like(leases.refused, [{ lane: 0, epoch: 1 }])
  })
}

test('a lane whose lease is gone is not applied, and is again when it comes back', async (t) => {
  const { log, store, leases, system } = await running(t)
  await until('the lanes are owned', () => system.ownedLanes === 2)
  void leases.hold([{ lane: 1, epoch: 1 }])
  await until('lane 0 is let go', () => system.ownedLanes === 1)
  log.put(0, [message()])
  log.put(1, [message({ channelId: channel(2) })])
  await until('lane 1 is applied', () => seqsOf(store, 2).length === 1)
  t.deepEqual(seqsOf(store), [])
  void leases.hold([
    { lane: 0, epoch: 2 },
    { lane: 1, epoch: 1 },
  ])
  await until('lane 0 is applied', () => seqsOf(store).length === 1)
})

/** A system that has applied a Thing in lane 0, which another owner has now and has gone on with. */
async function withOtherOwner(t: ExecutionContext, others: readonly Submission[]) {
  const own = await running(t)
  const { log, store, leases, system } = own
  log.put(0, [thing('create', 't', { at: 1, attrs: { on: true } })])
  await until('the first is applied', () => store.feed.length === 1)
  void leases.hold([{ lane: 1, epoch: 1 }])
  await until('lane 0 is let go', () => system.ownedLanes === 1)
  const other = systemOver({ store, log, leases: [{ lane: 0, epoch: 2 }] })
  log.put(0, others)
  await other.system.start()
  await other.system.drain()
  return own
}

test("owned-lanes/1: a lane that comes back is applied from the other owner's place", async (t) => {
  const update = thing('update', 't', { at: 5, attrs: { on: false } })
  const { log, store, leases } = await withOtherOwner(t, [message(), update])
  t.is(store.feed.length, 3)

  void leases.hold([{ lane: 0, epoch: 3 }])
  log.put(0, [thing('update', 't', { at: 6, attrs: { dim: 1 } })])
  await until('the fourth is applied', () => store.feed.length === 4)
  t.deepEqual(seqsOf(store), [1, 2, 3, 4])
  t.like(store.thing(channel(1), 't'), { rev: 3, seq: 4 })
  t.deepEqual(Object.keys(store.thing(channel(1), 't')?.attrs.values ?? {}), ['on', 'dim'])
  t.deepEqual(store.violations, [])
})

test('owned-lanes/1: a late reading after a lane came back overwrites nothing newer', async (t) => {
  const update = thing('update', 't', { at: 5, attrs: { on: false } })
  const { log, store, leases } = await withOtherOwner(t, [update])

  // It has no effect, so it takes no seq that could clash; what is kept of the Thing is written.
  const late = thing('update', 't', { at: 1, attrs: { on: true } })
  void leases.hold([{ lane: 0, epoch: 3 }])
  log.put(0, [late])
  await until('the late reading has its record', () => statusOf(store, late) === 'sent')
  t.like(store.thing(channel(1), 't'), { rev: 2, seq: 2, at: 5 })
  const { values, times } = store.thing(channel(1), 't')?.attrs ?? NO_FIELDS
  t.is(JSON.stringify(values), '{"on":false}')
  t.is(times, undefined, 'it was set at 5')
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

test('actor/2: actors beyond the limit go to sleep, and nothing is lost by it', async (t) => {
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

test('turn-records/3: an update without a record has its entry, and counts as an operation', async (t) => {
  const { log, store, meter } = await running(t, { recordsUpdates: false })
  const [update, sent] = [thing('update', 't'), message()]
  const refused = thing('update', 'gone', { at: 2 })
  log.put(0, [update, thing('delete', 'gone'), refused, sent])
  await until('they are applied', () => store.feed.length === 3)
  await turn()
  t.false(store.operations.has(update.opId))
  t.is(store.operations.get(refused.opId)?.errorCode, 'thing_deleted')
  t.is(store.operations.get(sent.opId)?.status, 'sent')
  t.is(meter.total('operations_total{sent}'), 3)
})

test('actor/2: an actor that is idle goes to sleep', async (t) => {
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

// Method: the duration of a turn, and the rest behind it; of 0 ms for the messages of the thread.
for (const [tookMs, waits] of [
  [0, []],
  [1, [3]],
  [5, [15]],
  [8, [12]],
  [19, [1]],
  [20, [0]],
  [300, [0]],
] as const) {
  test(`turn-line/1: a turn of ${tookMs} ms is followed by a rest of ${waits[0] ?? 'no'} ms`, async (t) => {
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

test('turn-line/1: a turn that is full is followed by the next one', async (t) => {
  const { log, store, system, waits, clock } = await running(t, { turnMax: 1 })
  store.faultOf = (call) => {
    if (call === 'commit') clock.now += 5
    return undefined
  }
  log.put(0, [message(), message()])
  await until('both turns are over', () => system.applied === 2)
  t.deepEqual(waits, [])
})

test('W4: purging goes up to the last whole applied batch, and keeps young ones', async (t) => {
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
