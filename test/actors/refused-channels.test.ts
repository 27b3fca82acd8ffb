// Goal: a channel whose rows the database refuses stops nobody else: its submissions become dead
// letters and end as failed, until the database takes its rows again.
// Method: a store that refuses every commit with an entry of a channel, as long as the test wants.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { REFUSED_CHANNELS_MAX, RefusedChannels } from '#actors/refused-channels'
import { placeOf } from '#domain/lane'
import { STORE_DEFECT } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { outage } from '#test/support/memory-turn-store'
import { LANES, running, seqsOf, statusOf } from '#test/support/running-system'
import { channel, message, opId, rule, thing } from '#test/support/submissions'
import { ruleOf } from '#test/support/rules'
import { until } from '#test/support/until'

const REFUSED = channel(1)
const defect = (): Error => Object.assign(new Error('a constraint'), { name: STORE_DEFECT })

type Over = Awaited<ReturnType<typeof running>>

const payloadsOf = ({ store }: Pick<Over, 'store'>): readonly string[] =>
  store.deadLetters.map(({ payload }) => payload)

const textsOf = (submissions: readonly Submission[]): readonly string[] =>
  submissions.map((submission) => JSON.stringify(submission))

const gaugeOf = ({ meter }: Over): number | undefined => meter.gauges.get('refused_channels')?.()

/** A system whose channel 1 is refused because of one submission. */
async function refused(t: ExecutionContext, error = outage('the trigger says no')) {
  const over = await running(t)
  over.store.refused.set(REFUSED, error)
  over.log.put(0, [message(), message()])
  await until('the channel is refused', () => over.store.deadLetters.length === 2)
  return over
}

test('W6: a channel whose rows are refused again and again is set aside, and its lane goes on', async (t) => {
  const over = await running(t)
  const { log, store, meter, logger } = over
  store.refused.set(REFUSED, outage('the trigger says no'))
  const mine = [thing('create', 't'), message(), thing('update', 't', { at: 2 })]
  const [first, second, third] = mine as [Submission, Submission, Submission]
  const others = [message({ channelId: channel(2) }), message({ channelId: channel(2) })]
  log.put(0, [first, ...others, second])
  log.put(1, [message({ channelId: channel(3) })])
  await until('the others are applied', () => store.feed.length === 3)
  const position = log.put(0, [message({ channelId: channel(2) }), third])
  await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(position, 0))

  t.deepEqual(payloadsOf(over), textsOf(mine))
  t.is(store.deadLetters[0]?.error, 'StoreError: the trigger says no')
  t.deepEqual(seqsOf(store, 2), [1, 2, 3])
  for (const one of mine) t.is(statusOf(store, one), 'internal_error')
  t.is(gaugeOf(over), 1)
  t.is(meter.total('dead_letters_total'), 3)
  const lines = logger.lines.filter(({ fact }) => fact === 'the database refuses rows of a channel')
  t.is(lines.length, 1)
  t.like(lines[0], { level: 'error', fields: { channelId: REFUSED } })
})

test('refused-channels/1: a channel is tried after growing pauses, by one submission alone', async (t) => {
  const over = await refused(t)
  const { store, log, clock, meter } = over
  const retried = (): number => meter.total('turns_retried_total')
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    const before = retried()
    clock.now += pauseMs - 1
    log.put(0, [message(), message({ channelId: channel(2) })])
    const early = store.deadLetters.length + 1
    await until('it is set aside at once', () => store.deadLetters.length === early)
    t.is(retried(), before, `after ${pauseMs - 1} ms`)
    clock.now += 1
    log.put(0, [message({ channelId: channel(2) }), message(), message()])
    await until('they are set aside', () => store.deadLetters.length === early + 2)
    t.is(retried(), before + 1, `after ${pauseMs} ms`)
  }
})

test('refused-channels/1: a store that recovers in the worst moment costs one submission', async (t) => {
  const over = await running(t)
  const { store, log } = over
  store.refused.set(REFUSED, outage('no'))
  const commit = store.commit.bind(store)
  store.commit = (writes) => {
    if (writes.deadLetters.length > 0) store.refused.clear()
    return commit(writes)
  }
  log.put(0, [message(), message(), message()])
  await until('the others are applied', () => seqsOf(store).length === 2)
  t.deepEqual([store.deadLetters.length, gaugeOf(over)], [1, 0])
})

test('refused-channels/1: a channel is like the others once the database takes its rows', async (t) => {
  const over = await refused(t)
  const { store, log, clock } = over
  store.refused.clear()
  clock.now += 1_000
  log.put(0, [message(), thing('create', 't'), message()])
  await until('they are applied', () => seqsOf(store).length === 3)
  t.deepEqual([seqsOf(store), store.deadLetters.length], [[1, 2, 3], 2])
  t.is(gaugeOf(over), 0)
})

test('W6: what is due in a refused channel waits for its attempt, and holds no other', async (t) => {
  const over = await running(t)
  const { store, log, clock } = over
  const silence = JSON.stringify(ruleOf({ when: { silent: '1s' } }))
  for (const number of [1, 2]) {
    const to = { channelId: channel(number), acceptedAt: 0 }
    log.put(0, [rule('put', 'r', silence, to), thing('update', 'a', { ...to, attrs: { t: 1 } })])
  }
  await until('they are applied', () => store.operations.size === 4)
  store.refused.set(REFUSED, outage('no'))
  log.put(0, [message(), message()])
  await until('the channel is refused', () => store.deadLetters.length === 2)
  const opened = () =>
    store.feed.filter(({ model }) => model === 'event').map((one) => one.channelId)
  log.put(0, [{ model: 'tick', acceptedAt: 5_000 }])
  await until('the other rule fires', () => opened().length === 1)
  store.refused.clear()
  clock.now += 1_000
  log.put(0, [{ model: 'tick', acceptedAt: 6_000 }])
  await until('both have fired', () => opened().length === 2)
  t.deepEqual(opened(), [channel(2), REFUSED])
  t.is(gaugeOf(over), 0)
})

test('turn-records/5: an op_id that was set aside is used', async (t) => {
  const over = await refused(t)
  const { store, log } = over
  const claimed = (number = 1) =>
    message({ opId: 'mine', claims: true, channelId: channel(number) })
  const position = log.put(0, [claimed(), claimed(), claimed(2)])
  await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(position, 0))
  t.deepEqual([seqsOf(store), seqsOf(store, 2)], [[], []])
  t.is(store.operations.get(opId('mine'))?.errorCode, 'internal_error')
  t.is(store.deadLetters.length, 4)
})

test('a lane that is let go takes its refused channels along', async (t) => {
  const over = await refused(t)
  await over.leases.hold([{ lane: 1, epoch: 1 }])
  await until('the lane is let go', () => over.system.ownedLanes === 1)
  t.is(gaugeOf(over), 0)
  await over.leases.hold(LANES.map(({ lane }) => ({ lane, epoch: 2 })))
})

test('W6: rows at fault are set aside, and a channel with no others is refused', async (t) => {
  const over = await running(t)
  const { log, store, meter } = over
  store.refused.set(REFUSED, defect())
  const submissions = Array.from({ length: 6 }, () => message())
  log.put(0, [...submissions, message({ channelId: channel(2) })])
  await until('the lane goes on', () => store.feed.length === 1)
  t.deepEqual(payloadsOf(over), textsOf(submissions))
  t.is(gaugeOf(over), 1)
  const retried = meter.total('turns_retried_total')
  log.put(
    0,
    Array.from({ length: 20 }, () => message()),
  )
  await until('those behind are set aside', () => store.deadLetters.length === 26)
  t.is(meter.total('turns_retried_total'), retried)
})

test('W6: a channel that is written to between its faults is not refused', async (t) => {
  const over = await running(t)
  const { log, store } = over
  const submissions = Array.from({ length: 8 }, () => message())
  submissions.forEach(({ opId: id }, index) => index % 2 === 0 && store.poison.add(id))
  store.poisonError = defect()
  log.put(0, submissions)
  await until('everything is done', () => store.operations.size === 8)
  t.deepEqual([store.deadLetters.length, gaugeOf(over)], [4, 0])
})

test('W6: nothing is set aside while everything is refused', async (t) => {
  const over = await running(t)
  const { log, store, waits } = over
  store.commit = () => Promise.reject(outage('the disk is full'))
  log.put(0, [message(), message({ channelId: channel(2) })])
  await until('it was tried often', () => waits.length > 60)
  t.deepEqual([store.deadLetters, gaugeOf(over)], [[], 0])
})

test('refused-channels/2: so many channels are refused at most', (t) => {
  const channels = new RefusedChannels()
  for (let number = 0; number < REFUSED_CHANNELS_MAX; number += 1) {
    t.true(channels.hasRoom)
    channels.failed(channel(number), 0, 0)
  }
  t.false(channels.hasRoom)
  t.true(channels.taken(channel(0)))
  t.true(channels.hasRoom)
})
