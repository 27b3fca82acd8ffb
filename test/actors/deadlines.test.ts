// Goal: what is due in an owned lane fires by a tick of its log: once, whatever the clock does.

import test from 'ava'
import * as fc from 'fast-check'

import { Deadlines } from '#actors/deadlines'
import type { Turn } from '#actors/turn-item'
import { placeOf } from '#domain/lane'
import type { Appended } from '#domain/lane'
import type { Tick } from '#domain/submission'
import { encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { systemOver } from '#test/support/actor-system'
import { running } from '#test/support/running-system'
import { ruleOf } from '#test/support/rules'
import { rule, thing } from '#test/support/submissions'
import { turn, until } from '#test/support/until'

const S = 1_000
const HOT = JSON.stringify(ruleOf({ for: '5s' }))
const SILENT = JSON.stringify(ruleOf({ when: { silent: '10s' } }))

/** A system whose ticks go to its log. */
async function ticking(t: Parameters<typeof running>[0]) {
  const made: number[] = []
  const over = await running(t, {}, (log) => (lane, tick) => {
    made.push(tick.acceptedAt)
    return log.append({ lane, count: 1, payload: encodeBatch([encodeSubmission(tick)]) })
  })
  const { store, log, system, clock } = over
  let count = 0
  const put = async (...submissions: Parameters<typeof log.put>[1]): Promise<void> => {
    const position = log.put(0, submissions)
    await until('it is applied', () => (store.lanes.get(0)?.place ?? 0) >= placeOf(position, 0))
  }
  const at = async (s: number): Promise<readonly string[]> => {
    clock.now = s * S
    for (count = 0; count < 5; count += 1) {
      system.checkDeadlines()
      for (let round = 0; round < 20; round += 1) await turn()
    }
    return store.feed.flatMap(({ model, action }) => (model === 'event' ? action : []))
  }
  return { ...over, made, put, at }
}

const reading = (s: number) =>
  thing('update', 'a', { at: s * S, acceptedAt: s * S, attrs: { t: 1 } })

test('R7, deadlines/3: a clock that jumps fires what is due, and nothing twice', async (t) => {
  const { made, put, at } = await ticking(t)
  await put(rule('put', 'r', SILENT, { acceptedAt: 20 * S }), reading(21))
  t.deepEqual(await at(30), [])
  t.deepEqual(await at(10_000), ['create'])
  t.deepEqual(await at(25), ['create'])
  await put(reading(26))
  t.deepEqual(await at(30), ['create', 'close'])
  t.deepEqual(await at(36), ['create', 'close', 'create'])
  t.deepEqual(await at(20_000), ['create', 'close', 'create'])
  t.true(made.length < 12, `${made.length} ticks were made`)
})

test('R3, R7: what was due while nobody ran fires once, at its time', async (t) => {
  const { store, log, put, at, system } = await ticking(t)
  await put(rule('put', 'r', SILENT, { acceptedAt: 20 * S }), reading(21))
  await at(25)
  t.is(await store.nextDue(0), 31 * S)
  await system.halt()
  t.deepEqual(await at(620), [])
  const appendTick = (lane: number, tick: Tick) =>
    log.append({ lane, count: 1, payload: encodeBatch([encodeSubmission(tick)]) })
  const next = systemOver({ store, log, leases: [{ lane: 0, epoch: 2 }], appendTick })
  next.clock.now = 620 * S
  await next.system.start()
  await until('the lane is taken', () => store.lanes.get(0)?.epoch === 2)
  for (let count = 0; count < 200; count += 1) {
    next.system.checkDeadlines()
    await turn()
  }
  await next.system.halt()
  const events = store.feed.filter(({ model }) => model === 'event')
  t.deepEqual(
    events.map(({ payload }) => (JSON.parse(payload) as { event_time: number }).event_time),
    [31 * S],
  )
})

test('R8: looked at every quarter of a second, a deadline fires within a second of its time', async (t) => {
  const delays = fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 1, maxLength: 5 })
  const holds = async (gaps: readonly number[]): Promise<void> => {
    const { store, put, at, system } = await ticking(t)
    let ms = 20 * S
    const readings = gaps.map((gap, index) => {
      ms += gap
      return thing('update', `t${index}`, { at: ms, acceptedAt: ms, attrs: { t: 31 } })
    })
    await put(rule('put', 'r', HOT, { acceptedAt: 20 * S }), ...readings)
    for (let s = 20; s < ms / S + 7; s += 0.25) await at(s)
    const events = store.feed.filter(({ model }) => model === 'event')
    t.is(events.length, gaps.length)
    for (const { acceptedAt, payload } of events) {
      const { event_time: due } = JSON.parse(payload) as { event_time: number }
      t.true(acceptedAt >= due && acceptedAt - due <= S, `${acceptedAt - due} ms late`)
    }
    await system.halt()
  }
  await fc.assert(fc.asyncProperty(delays, holds), { numRuns: 15 })
})

const TICK: Turn = {
  items: [
    {
      lane: 0,
      position: 1,
      index: 0,
      placeAfter: 1,
      submission: { model: 'tick', acceptedAt: 10 },
    },
  ],
  lanes: new Map(),
  nowMs: 10,
}

function standalone(nextDue: () => Promise<number | undefined>) {
  const ticks: number[] = []
  const meter = new FakeMeter()
  const deadlinesOf = (lane: number): Promise<number> => Promise.resolve(10 + lane)
  const deadlines = new Deadlines({
    store: { nextDue, deadlines: deadlinesOf },
    nowMs: () => 50,
    logger: new FakeLogger(),
    meter,
    appendTick: (lane): Promise<Appended> => {
      ticks.push(lane)
      return Promise.resolve({ kind: 'appended', position: 1 })
    },
  })
  const gauge = (name: string): number => meter.gauges.get(name)?.() ?? -1
  return { deadlines, ticks, gauge }
}

test('deadlines/1: a deadline that is written while the store is asked is kept in mind', async (t) => {
  const asked = Promise.withResolvers<number | undefined>()
  const { deadlines, ticks } = standalone(() => asked.promise)
  const asking = deadlines.committed(TICK, [])
  deadlines.know(0, 40)
  asked.resolve(90)
  await asking
  t.deepEqual(ticks, [0])
})

test('deadlines/2: one tick is under way, and one without effect is followed by a pause', async (t) => {
  const { deadlines, ticks } = standalone(() => Promise.resolve(5))
  deadlines.know(0, 5)
  deadlines.check()
  deadlines.check()
  t.is(ticks.length, 1)
  await deadlines.committed(TICK, [])
  deadlines.check()
  t.is(ticks.length, 1)
  for (let count = 0; count < 30; count += 1) deadlines.check()
  t.is(ticks.length, 2)
})

test('W7, deadlines/1: one time a lane is in memory, however many deadlines there are', (t) => {
  const { deadlines, gauge } = standalone(() => Promise.resolve(undefined))
  for (let due = 10_000; due > 0; due -= 1) deadlines.know(due % 2, due)
  t.is(gauge('lanes_with_deadlines'), 2)
})

test('the deadlines of owned lanes are counted, one lane at a time', async (t) => {
  const { deadlines, gauge } = standalone(() => Promise.resolve(undefined))
  await deadlines.count()
  t.is(gauge('deadlines_waiting'), 0)
  for (const lane of [1, 2, 3]) deadlines.know(lane, 90)
  await deadlines.count()
  t.is(gauge('deadlines_waiting'), 11)
  for (let count = 0; count < 3; count += 1) await deadlines.count()
  t.is(gauge('deadlines_waiting'), 11 + 12 + 13)
  deadlines.forget(1)
  t.is(gauge('deadlines_waiting'), 12 + 13)
  deadlines.forgetAll()
  t.is(gauge('deadlines_waiting'), 0)
})
