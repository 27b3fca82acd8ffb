// Goal: deciding a turn while the one before it commits changes nothing but the time it takes.
// Method: the log holds more than a turn takes, and the first commit hangs until the next turn was
// decided; then it ends in every way in which a commit ends.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { placeOf } from '#domain/lane'
import { ruleOf } from '#test/support/rules'
import { channel, message, rule, thing } from '#test/support/submissions'
import {
  LANES,
  faultOnce,
  running,
  seqsOf,
  statusOf,
  unknownThing,
} from '#test/support/running-system'
import { turn, until } from '#test/support/until'

const TURN_MAX = 2
const SOON_TURNS = 20

/** A system whose first turn commits for as long as the test wants. */
async function committing(t: ExecutionContext, turnMax = TURN_MAX) {
  const over = await running(t, { turnMax })
  await until('the lanes are owned', () => over.system.ownedLanes === LANES.length)
  over.store.faultOf = (call) => (call === 'commit' ? 'hang' : undefined)
  return over
}

/** Resolves when a driver has sent a statement: it needs no other turn of the event loop. */
async function sent(): Promise<void> {
  for (let steps = 0; steps < 20; steps += 1) await Promise.resolve()
}

type Over = Awaited<ReturnType<typeof committing>>

const nextIsDecided = ({ store }: Over) =>
  until('the next turn has loaded', () => store.loads.length === 2)

/** The same, with turns of two submissions each in the log; the second turn is decided. */
async function behind(t: ExecutionContext, turns = 2) {
  const over = await committing(t)
  for (let each = 0; each < turns; each += 1) over.log.put(0, [message(), unknownThing()])
  await nextIsDecided(over)
  return over
}

test('turn-line/1: while a large turn commits the next one is decided, and commits after it', async (t) => {
  const over = await committing(t)
  const { log, store, bus } = over
  const update = (at: number) => thing('update', 't', { at, attrs: { at } })
  log.put(0, [thing('create', 't', { at: 1 }), update(2)])
  log.put(0, [update(3), thing('update', 'u')])
  await nextIsDecided(over)
  for (let turns = 0; turns < SOON_TURNS; turns += 1) await turn()
  t.is(store.hanging, 1)
  t.deepEqual([store.commits, bus.announced], [[], []])
  t.like(
    store.loads[1],
    { channels: [], things: [{ channelId: channel(1), id: 'u' }] },
    'the next turn builds on the first',
  )

  store.faultOf = () => undefined
  store.release()
  await until('everything is applied', () => store.feed.length === 4)
  t.is(store.commits.length, 2)
  t.deepEqual(seqsOf(store), [1, 2, 3, 4])
  t.is(store.thing(channel(1), 't')?.rev, 3)
  t.is(store.lanes.get(0)?.place, placeOf(2, 0))
})

// Method: the second batch is too large for the first turn.
for (const [turnMax, first, ahead] of [
  [4, 2, 1],
  [4, 1, 0],
  [512, 32, 1],
  [512, 31, 0],
] as const) {
  test(`turn-line/1: a turn of ${first} where ${turnMax} fit has ${ahead} decided ahead of it`, async (t) => {
    const over = await committing(t, turnMax)
    const { log, store } = over
    const submissions = (count: number) => Array.from({ length: count }, () => unknownThing())
    log.beforeRead = () => {
      log.beforeRead = () => Promise.resolve()
      log.put(0, submissions(4))
      return Promise.resolve()
    }
    log.put(0, submissions(first))
    await until('the first turn commits', () => store.hanging === 1)
    for (let turns = 0; turns < SOON_TURNS; turns += 1) await turn()
    t.is(store.loads.length, 1 + ahead)
  })
}

test('R7: a tick waits for the turn before it, whose deadlines it works off', async (t) => {
  const over = await committing(t)
  const { log, store } = over
  const hot = JSON.stringify(ruleOf({ for: '5s' }))
  log.put(0, [rule('put', 'r', hot), thing('update', 'a', { at: 1, attrs: { t: 31 } })])
  log.put(0, [{ model: 'tick', acceptedAt: 60_000 }])
  await until('the first turn commits', () => store.hanging === 1)
  for (let turns = 0; turns < SOON_TURNS; turns += 1) await turn()
  t.is(store.loads.length, 1)
  store.faultOf = () => undefined
  store.release()
  await until('the tick is applied', () => store.lanes.get(0)?.place === placeOf(2, 0))
  t.is(store.feed.filter(({ model }) => model === 'event').length, 1)
})

test('turn-line/2: a turn is announced once the next one has begun to commit, before that has ended', async (t) => {
  const over = await behind(t, 3)
  const { store, bus } = over
  const announcedAt: number[] = []
  store.faultOf = (call) => {
    if (call !== 'commit') return undefined
    void sent().then(() => announcedAt.push(bus.announced.length))
    return 'hang'
  }
  for (const turns of [1, 2]) {
    store.release()
    await until('the turn is announced', () => bus.announced.length === turns)
    t.is(store.hanging, 1)
  }
  store.faultOf = () => undefined
  store.release()
  await over.system.drain()
  t.deepEqual(announcedAt, [0, 0, 1, 1], 'asked when a commit goes on, and when the next begins')
  t.deepEqual(announcedSeqs(over), [1, 2, 3, 4, 5, 6])
})

test('turn-line/2: a turn is announced at once while the next one is still loading', async (t) => {
  const over = await behind(t)
  const { log, store, bus, system } = over
  store.faultOf = (call) => (call === 'load' ? 'hang' : undefined)
  for (const count of [3, 4]) log.put(0, [message({ channelId: channel(count) }), message()])
  store.release()
  await until('two turns are announced', () => bus.announced.length >= 2)
  t.is(store.hanging, 1)
  t.is(store.commits.length, 2)
  store.faultOf = () => undefined
  store.release()
  await system.drain()
  t.deepEqual(store.violations, [])
})

const announcedSeqs = ({ bus }: Over) =>
  bus.announced.flatMap(({ entries }) => entries.map(({ seq }) => seq))

test('turn-line/2: turns are announced in the order of their commits, however fast', async (t) => {
  const over = await behind(t)
  const { store, putOff } = over
  const held: (() => void)[] = []
  putOff.soon = (task) => void held.push(task)
  store.faultOf = () => undefined
  store.release()
  await until('both are committed', () => store.commits.length === 2)
  for (let turns = 0; turns < SOON_TURNS; turns += 1) await turn()
  t.deepEqual(announcedSeqs(over), [])
  for (const task of held) task()
  await over.system.drain()
  t.deepEqual(announcedSeqs(over), [1, 2, 3, 4])
})

test('turn-line/2: a committed turn is announced also when the next turn is given up', async (t) => {
  const over = await behind(t)
  const { store, system } = over
  for (let turns = 0; turns < SOON_TURNS; turns += 1) await turn()
  const halted = system.halt()
  store.release()
  await halted
  t.is(store.commits.length, 1)
  t.deepEqual(announcedSeqs(over), [1, 2])
})

test('turn-line/1: behind a backlog a deleted channel is forgotten as soon as it is in no turn', async (t) => {
  const over = await behind(t, 10)
  const { store, bus } = over
  bus.notify({ kind: 'channel-deleted', channelId: channel(1) })
  store.faultOf = () => undefined
  store.release()
  await over.system.drain()
  t.deepEqual(
    store.loads.flatMap(({ channels }, index) => (channels.length > 0 ? [index] : [])),
    [0, 2],
  )
})

test('turn-records/5: an op_id that is being committed has no second effect in the next turn', async (t) => {
  const over = await committing(t)
  const claimed = (number: number) =>
    message({ opId: 'mine', claims: true, channelId: channel(number) })
  over.log.put(0, [claimed(1), message()])
  over.log.put(0, [claimed(1), claimed(2)])
  await nextIsDecided(over)
  over.store.faultOf = () => undefined
  over.store.release()
  await over.system.drain()
  t.is(over.store.feed.length, 2)
  t.deepEqual(over.store.violations, [])
})

for (const fault of ['refuse', 'lose', 'fence'] as const) {
  test(`turn-line/3: when a commit is made to ${fault}, the turn decided ahead is decided again`, async (t) => {
    const over = await committing(t)
    const { log, store, system } = over
    const before = thing('create', 't', { at: 1 })
    log.put(0, [before, thing('update', 't', { at: 2, attrs: { on: true } })])
    const [third, fourth] = [thing('update', 't', { at: 3, attrs: { dim: 1 } }), message()]
    log.put(0, [third, fourth])
    log.put(1, [message({ channelId: channel(2) })])
    await nextIsDecided(over)
    const isMet = faultOnce(store, 'commit', fault)
    store.release()
    await system.drain()
    t.true(isMet())
    t.deepEqual(seqsOf(store), [1, 2, 3, 4])
    t.like(store.thing(channel(1), 't'), { rev: 3 })
    for (const one of [before, third, fourth]) t.is(statusOf(store, one), 'sent')
    t.deepEqual(store.violations, [])
  })
}

for (const [turnMax, told] of [
  [5, 'its writer'],
  [4, undefined],
] as const) {
  test(`turn-line/4: of a turn of 2 where ${turnMax} fit is told: ${told ?? 'everybody'}`, async (t) => {
    const { log, bus } = await running(t, { turnMax })
    await until('the lanes are taken', () => bus.notices.length === LANES.length)
    log.put(0, [message(), message()], 'its writer')
    await until('it is announced', () => bus.notices.length > LANES.length)
    t.is(bus.writers.at(-1), told)
  })
}
