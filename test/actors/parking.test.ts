// Goal: a channel whose rows the database refuses waits alone, and nothing of it is lost.
// Method: a store that refuses every commit with an entry of a channel, as long as the test wants.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { placeOf } from '#domain/lane'
import { STORE_DEFECT } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { systemOver } from '#test/support/actor-system'
import { outage } from '#test/support/memory-turn-store'
import { LANES, faultOnce, running, seqsOf, statusOf } from '#test/support/running-system'
import { channel, message, opId, thing } from '#test/support/submissions'
import { turn, until } from '#test/support/until'

const REFUSED = channel(1)
const PAUSE_MS = 60_000
const defect = (): Error => Object.assign(new Error('a constraint'), { name: STORE_DEFECT })

type Over = Awaited<ReturnType<typeof running>>

const payloadsOf = ({ store }: Pick<Over, 'store'>): readonly string[] =>
  store.parked.map(({ payload }) => payload)

const textsOf = (submissions: readonly Submission[]): readonly string[] =>
  submissions.map((submission) => JSON.stringify(submission))

/** A system whose channel 1 is parked because of the first of these submissions. */
async function parked(
  t: ExecutionContext,
  submissions: readonly Submission[],
  error = outage('no'),
) {
  const over = await running(t)
  over.store.refused.set(REFUSED, error)
  over.log.put(0, submissions)
  await until('the channel is parked', () => over.store.parked.length === submissions.length)
  return over
}

/** Lets the database take the channel's rows again; resolves when nothing waits any more. */
async function released({ store, system, clock }: Pick<Over, 'store' | 'system' | 'clock'>) {
  store.refused.clear()
  clock.now += PAUSE_MS
  system.tryParked()
  await until('nothing waits any more', () => store.parked.length === 0)
}

test('W6: a channel whose rows are refused again and again is parked, and its lane goes on', async (t) => {
  const over = await running(t)
  const { log, store, meter, logger, system } = over
  store.refused.set(REFUSED, outage('the trigger says no'))
  const refused = [thing('create', 't'), message(), thing('update', 't', { at: 2 })]
  const [first, second, third] = refused as [Submission, Submission, Submission]
  const others = [message({ channelId: channel(2) }), message({ channelId: channel(2) })]
  log.put(0, [first, ...others, second])
  log.put(1, [message({ channelId: channel(3) })])
  await until('the others are applied', () => store.feed.length === 3)
  await until('the channel is parked', () => store.parked.length === 2)

  // Later submissions to it wait behind the first. (parked/2)
  const position = log.put(0, [message({ channelId: channel(2) }), third])
  await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(position, 0))
  t.deepEqual(payloadsOf(over), textsOf(refused))
  t.deepEqual(seqsOf(store, 2), [1, 2, 3])
  for (const one of refused) t.is(statusOf(store, one), 'processing')
  t.deepEqual(store.deadLetters, [])
  t.is(store.parked[0]?.error, 'StoreError: the trigger says no')
  t.is(meter.gauges.get('parked_channels')?.(), 1)
  t.is(meter.total('submissions_parked_total'), 3)
  t.is(meter.total('operations_total{processing}'), 0)
  const lines = logger.lines.filter(({ fact }) => fact.startsWith('a channel is parked'))
  t.is(lines.length, 1)
  t.like(lines[0], { level: 'error', fields: { channelId: REFUSED } })

  await released(over)
  t.deepEqual(seqsOf(store), [1, 2, 3])
  for (const one of refused) t.is(statusOf(store, one), 'sent')
  t.like(store.thing(REFUSED, 't'), { rev: 2, seq: 3 })
  t.is(meter.gauges.get('parked_channels')?.(), 0)
  log.put(0, [message()])
  await until('it is applied as ever', () => seqsOf(store).length === 4)
  await system.halt()
})

test('waiting submissions are announced in their order once they are applied', async (t) => {
  const over = await parked(t, [message(), message(), message(), message()])
  t.deepEqual(over.bus.announced, [])
  await released(over)
  const seqs = over.bus.announced.flatMap(({ entries }) => entries.map(({ seq }) => seq))
  t.deepEqual(seqs, [1, 2, 3, 4])
})

test('parked/3: a parked channel is tried with growing pauses, by its oldest submission alone', async (t) => {
  const over = await parked(t, [message(), message(), message()])
  const { store, system, clock, meter } = over
  const pauses: number[] = []
  let last = clock.now
  const tried = (): number => over.logger.lines.filter(({ fact }) => fact === STAYS).length
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    for (let steps = 0; tried() < attempt; steps += 1) {
      if (steps > PAUSE_MS / 500) return t.fail(`no attempt ${attempt}`)
      clock.now += 500
      system.tryParked()
      for (let turns = 0; turns < 5; turns += 1) await turn()
    }
    pauses.push(clock.now - last)
    last = clock.now
  }
  t.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  t.is(meter.gauges.get('parked_channels')?.(), 1)
  const before = store.commits.length
  await released(over)
  t.deepEqual(
    store.commits.slice(before).map(({ operations }) => operations.length),
    [1, 2],
  )
  return undefined
})

const STAYS = 'a parked channel keeps waiting'

test('parked/2: submissions behind one that is being parked are not decided ahead of it', async (t) => {
  const over = await running(t, { turnMax: 1 })
  const { store, log } = over
  store.refused.set(REFUSED, outage('no'))
  const commit = store.commit.bind(store)
  store.commit = async (writes) => {
    if (writes.parked !== undefined) store.refused.clear() // From this moment on it may pass.
    const committed = await commit(writes)
    for (let turns = 0; turns < 5; turns += 1) await turn()
    return committed
  }
  const submissions = [message(), message(), message()]
  log.put(0, submissions)
  await until('all of them wait', () => store.parked.length === 3)
  await released(over)
  t.deepEqual(
    store.feed.map((entry) => entry.opId),
    submissions.map((one) => one.opId),
  )
})

test('parked/1: a channel stays parked over a restart, and is applied after it', async (t) => {
  const waiting = [message(), message()]
  const over = await parked(t, waiting)
  const { store, log } = over
  await over.system.halt()
  const next = systemOver({ store, log, leases: LANES.map(({ lane }) => ({ lane, epoch: 2 })) })
  await next.system.start()
  t.teardown(() => next.system.halt())
  store.refused.clear()
  const behind = message()
  log.put(0, [behind])
  await until('it waits behind', () => store.parked.length === 3)
  t.deepEqual(payloadsOf(over), textsOf([...waiting, behind]))
  t.is(next.meter.gauges.get('parked_channels')?.(), 1)
  await released({ ...next, store })
  t.deepEqual(
    store.feed.map((entry) => entry.opId),
    [...waiting, behind].map((one) => one.opId),
  )
})

test('parked/1: a lane that is let go takes its parked channels along', async (t) => {
  const over = await parked(t, [message()])
  const gauge = over.meter.gauges.get('parked_channels')
  await over.leases.hold([{ lane: 1, epoch: 1 }])
  await until('the lane is let go', () => over.system.ownedLanes === 1)
  t.is(gauge?.(), 0)
  await over.leases.hold(LANES.map(({ lane }) => ({ lane, epoch: 2 })))
  await until('the lane is back', () => over.system.ownedLanes === 2)
  t.is(gauge?.(), 1)
})

for (const fault of ['refuse', 'lose', 'fence'] as const) {
  test(`W2: waiting submissions are applied once when their commit is made to ${fault}`, async (t) => {
    const over = await parked(t, [message(), message()])
    const { store, system, clock } = over
    const isMet = faultOnce(store, 'commit', fault)
    store.refused.clear()
    clock.now += PAUSE_MS
    system.tryParked()
    await until('the fault was met', isMet)
    await until('it is tried again', () => {
      clock.now += PAUSE_MS
      system.tryParked()
      return store.parked.length === 0
    })
    t.deepEqual(seqsOf(store), [1, 2])
    t.is(store.operations.size, 2)
  })
}

test('W2: a process that has lost the lane applies no waiting submission', async (t) => {
  const over = await parked(t, [message()])
  const { store, system, clock } = over
  await store.takeLane({ lane: 0, epoch: 7 }) // Another owner, of which this one has not heard.
  store.refused.clear()
  clock.now += PAUSE_MS
  system.tryParked()
  await until('it knows', () => system.ownedLanes === 1)
  t.deepEqual([store.feed, store.parked.length], [[], 1])
})

test('turn-uses/1: an op_id that waits has one effect, however often it comes', async (t) => {
  const claimed = () => message({ opId: 'mine', claims: true })
  const over = await parked(t, [claimed()])
  const { log, store } = over
  const position = log.put(0, [
    claimed(),
    message({ channelId: channel(2), opId: 'mine', claims: true }),
  ])
  await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(position, 0))
  await released(over)
  t.deepEqual(seqsOf(store), [1])
  t.deepEqual(seqsOf(store, 2), [])
  t.is(store.operations.get(opId('mine'))?.status, 'sent')
})

test("turn-uses/2: a waiting submission without a record leaves the other's record", async (t) => {
  const over = await running(t)
  const { log, store } = over
  log.put(0, [message({ opId: 'mine', claims: true, channelId: channel(2) })])
  await until('the first is applied', () => store.feed.length === 1)
  store.refused.set(REFUSED, outage('no'))
  log.put(0, [message(), thing('create', 't', { opId: 'mine' })])
  await until('the channel is parked', () => store.parked.length === 2)
  await released(over)
  t.like(store.thing(REFUSED, 't'), { rev: 1 })
  t.like(store.operations.get(opId('mine')), { channelId: channel(2), status: 'sent' })
  t.is(store.operations.size, 2)
})

test('W6: rows at fault are set aside, and a channel with no others is parked', async (t) => {
  const over = await running(t)
  const { log, store } = over
  store.refused.set(REFUSED, defect())
  const submissions = [message(), message(), message(), message()]
  log.put(0, [...submissions, message({ channelId: channel(2) })])
  await until('the channel is parked', () => store.parked.length === 2)
  await until('the lane goes on', () => store.feed.length === 1)
  const [first, second, ...others] = submissions as [Submission, Submission, Submission]
  t.deepEqual(
    store.deadLetters.map(({ payload }) => payload),
    textsOf([first, second]),
  )
  t.deepEqual(payloadsOf(over), textsOf(others))
})

test('W6: a channel that is written to between its faults is not parked', async (t) => {
  const { log, store } = await running(t)
  const submissions = Array.from({ length: 8 }, () => message())
  submissions.forEach(({ opId: id }, index) => index % 2 === 0 && store.poison.add(id))
  store.poisonError = defect()
  log.put(0, submissions)
  await until('everything is done', () => store.operations.size === 8)
  t.is(store.deadLetters.length, 4)
  t.deepEqual(store.parked, [])
})

test('W6: nothing is parked while everything is refused', async (t) => {
  const { log, store, waits } = await running(t)
  store.commit = () => Promise.reject(outage('the disk is full'))
  log.put(0, [message(), message({ channelId: channel(2) })])
  await until('it was tried often', () => waits.length > 60)
  t.deepEqual(store.parked, [])
})

test('W6: a waiting submission with a defect is set aside, and the others are applied', async (t) => {
  const poison = message()
  const others = [message(), message()] as const
  const over = await parked(t, [others[0], poison, others[1]])
  const { store, system, clock } = over
  store.poison.add(poison.opId)
  store.refused.clear()
  await until('nothing waits any more', () => {
    clock.now += PAUSE_MS
    system.tryParked()
    return store.parked.length === 0
  })
  t.deepEqual(
    store.deadLetters.map(({ payload }) => payload),
    textsOf([poison]),
  )
  t.is(statusOf(store, poison), 'internal_error')
  t.deepEqual(seqsOf(store), [1, 2])
})
