// Goal: a Message that waits for its time enters the feed once, unless it was cancelled before.

import test from 'ava'
import * as fc from 'fast-check'

import { SCHEDULED_PER_CHANNEL_MAX, SENT_PER_TICK_MAX } from '#domain/rules/scheduled'
import { cancellation, channel, message, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'
import type { TurnBench } from '#test/support/turn-bench'

const S = 1_000

const later = (s: number, at = 1, title = 'later') =>
  message({ acceptedAt: at * S, deliverAt: s * S, fields: { title } })

const tickAt = async (bench: TurnBench, s: number): Promise<void> => {
  await bench.take(bench.turnOf([{ model: 'tick', acceptedAt: s * S }]))
}

const feedOf = ({ store }: TurnBench): readonly string[] =>
  store.feed.map(({ acceptedAt, payload }) => {
    const { title } = JSON.parse(payload) as { title: string }
    return `${title} ${acceptedAt / S}`
  })

test('scheduling/1: a Message enters the feed at its time, once, under its own ids', async (t) => {
  const bench = await newBench()
  const one = later(20)
  await bench.apply(one)
  t.is(bench.statusOf(one), 'scheduled')
  for (const s of [19, 21, 22]) await tickAt(bench, s)
  t.deepEqual(feedOf(bench), ['later 21'])
  t.like(bench.store.feed[0], { opId: one.opId, entityId: one.entityId, seq: 1 })
  t.like(bench.store.operations.get(one.opId), { status: 'sent', acceptedAt: 21 * S })
  t.is(bench.store.scheduled.rows.size, 0)
})

test('scheduling/2: the record of a Message that waits bears its time', async (t) => {
  const bench = await newBench()
  const one = later(20)
  await bench.apply(one)
  const times = { acceptedAt: 20 * S, updatedAt: S }
  t.like(bench.store.operations.get(one.opId), times)
})

test('scheduling/1: a Message is cancelled before its time, in the same turn and later', async (t) => {
  const bench = await newBench()
  const [first, second] = [later(20), later(20)]
  await bench.apply(first, cancellation(first), second)
  t.is(bench.statusOf(first), 'cancelled')
  bench.directory.sleepAll()
  await bench.apply(cancellation(second, { acceptedAt: 3 * S }))
  t.like(bench.store.operations.get(second.opId), { status: 'cancelled', updatedAt: 3 * S })
  await tickAt(bench, 30)
  t.deepEqual(feedOf(bench), [])
  t.is(bench.store.scheduled.rows.size, 0)
})

test('scheduling/1: a cancellation behind the tick that sends the Message is refused', async (t) => {
  const bench = await newBench()
  const one = later(20)
  await bench.apply(one)
  const late = cancellation(one, { acceptedAt: 21 * S })
  await bench.take(bench.turnOf([{ model: 'tick', acceptedAt: 20 * S }, late]))
  t.deepEqual([bench.statusOf(late), bench.statusOf(one)], ['message_already_sent', 'sent'])
  const again = cancellation(one)
  await bench.apply(again)
  t.is(bench.statusOf(again), 'message_already_sent')
  t.deepEqual(feedOf(bench), ['later 20'])
})

test('a Message of another channel is not cancelled', async (t) => {
  const bench = await newBench()
  const one = later(20)
  await bench.apply(one)
  const foreign = { ...cancellation(one), channelId: channel(2) }
  await bench.apply(foreign)
  t.deepEqual([bench.statusOf(foreign), bench.statusOf(one)], ['message_already_sent', 'scheduled'])
})

test('a repeat with the same op_id is scheduled once', async (t) => {
  const bench = await newBench()
  const one = { ...later(20), claimed: true }
  await bench.apply(one)
  await bench.apply(one)
  await tickAt(bench, 20)
  await bench.apply(one)
  await tickAt(bench, 21)
  t.deepEqual(feedOf(bench), ['later 20'])
})

test('R7: Messages leave in the order of their times, before what comes later in the log', async (t) => {
  const bench = await newBench()
  await bench.apply(later(21, 1, 'b'), later(20, 2, 'a'))
  const reading = thing('update', 'x', { at: 22 * S, acceptedAt: 22 * S, fields: { title: 'c' } })
  await bench.take(bench.turnOf([{ model: 'tick', acceptedAt: 22 * S }, reading]))
  t.deepEqual(feedOf(bench), ['a 22', 'b 22', 'c 22'])
})

test('R7: one tick sends a bounded number of Messages', async (t) => {
  const bench = await newBench()
  await bench.apply(...Array.from({ length: SENT_PER_TICK_MAX + 2 }, () => later(20)))
  await tickAt(bench, 20)
  t.is(feedOf(bench).length, SENT_PER_TICK_MAX)
  await tickAt(bench, 20)
  t.is(feedOf(bench).length, SENT_PER_TICK_MAX + 2)
})

test('scheduling/3: a channel has no more waiting Messages than its limit', async (t) => {
  const bench = await newBench()
  const all = Array.from({ length: SCHEDULED_PER_CHANNEL_MAX }, () => later(20))
  await bench.apply(...all)
  const [first] = all
  const more = later(20)
  await bench.apply(more)
  t.is(bench.statusOf(more), 'scheduled_messages_limit_exceeded')
  if (first === undefined) return t.fail()
  const one = later(20)
  await bench.apply(cancellation(first), one)
  t.is(bench.statusOf(one), 'scheduled')
})

test('R7, scheduling/1: each Message leaves once in the order of its time, or is cancelled', async (t) => {
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom('send', 'send', 'cancel', 'tick', 'restart'),
      gap: fc.integer({ min: 0, max: 4 }),
      wait: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 30 },
  )
  type Steps = typeof steps extends fc.Arbitrary<infer List> ? List : never
  const holds = async (list: Steps): Promise<void> => {
    const bench = await newBench()
    const all: ReturnType<typeof later>[] = []
    const [left, ended] = [new Map<string, number>(), new Map<string, string>()]
    const sent: string[] = []
    let s = 1
    for (const { kind, gap, wait } of [...list, { kind: 'tick', gap: 10, wait: 1 }]) {
      s += gap
      const one = all.at(-wait)
      if (kind === 'restart') bench.directory.sleepAll()
      else if (kind === 'send') {
        const made = later(s + wait, s)
        all.push(made)
        left.set(made.opId, s + wait)
        await bench.apply(made)
      } else if (kind === 'cancel' && one !== undefined) {
        const submission = cancellation(one, { acceptedAt: s * S })
        await bench.apply(submission)
        const isThere = left.delete(one.opId)
        if (isThere) ended.set(one.opId, 'cancelled')
        t.is(bench.statusOf(submission), isThere ? 'sent' : 'message_already_sent')
      } else if (kind === 'tick') {
        await tickAt(bench, s)
        const due = [...left]
          .filter(([, at]) => at <= s)
          .toSorted(([, at], [, other]) => at - other)
        for (const [opId] of due) {
          sent.push(`${opId} ${s}`)
          left.delete(opId)
          ended.set(opId, 'sent')
        }
      }
    }
    const { store } = bench
    t.deepEqual(
      store.feed.map(({ opId, acceptedAt }) => `${opId} ${acceptedAt / S}`),
      sent,
    )
    t.deepEqual(
      all.map((one) => bench.statusOf(one)),
      all.map(({ opId }) => ended.get(opId)),
    )
  }
  await fc.assert(fc.asyncProperty(steps, holds), { numRuns: 150 })
})
