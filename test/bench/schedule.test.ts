import test from 'ava'

import { Schedule } from './load/schedule.ts'

const open = (ratePerSecond: number, durationMs: number): Schedule =>
  new Schedule({ pace: { kind: 'open', ratePerSecond }, durationMs }, 0)

test('schedule/1: requests are due at fixed times, and not before', (t) => {
  const schedule = open(1_000, 10)
  t.is(schedule.take(0), 0)
  t.is(schedule.take(999), undefined)
  t.is(schedule.take(2_500), 1_000)
  t.is(schedule.take(2_500), 2_000)
  t.is(schedule.take(2_500), undefined)
})

test('schedule/1: latency counts from the due time of a request that waited in line', (t) => {
  const schedule = open(1_000, 1)
  const dueUs = schedule.take(50_000) ?? Number.NaN
  schedule.answered(200, { dueUs, nowUs: 60_000 })
  t.is(schedule.report().latency.maxMs, 60)
})

test('the number of due requests follows rate and duration, also when the rate divides badly', (t) => {
  for (const rate of [7_777, 9_667, 15_673, 33_333]) {
    const schedule = open(rate, 3_000)
    let taken = 0
    while (schedule.take(3_000_000) !== undefined) taken += 1
    t.is(taken, schedule.report().due)
    t.is(taken, rate * 3)
  }
})

test('schedule/2: unsent requests are missing from the answers, not from the due ones', (t) => {
  const schedule = open(1_000, 10)
  const dueUs = schedule.take(0) ?? Number.NaN
  schedule.answered(200, { dueUs, nowUs: 1_000 })
  t.false(schedule.isOver(1_000_000))
  t.is(schedule.take(1_600_000), undefined)
  t.true(schedule.isOver(1_600_000))
  t.like(schedule.report(), { due: 10, answered: 1, accepted: 1 })
})

test('a run ends when everything was answered, and not before its time', (t) => {
  const schedule = open(1_000, 1)
  const dueUs = schedule.take(0) ?? Number.NaN
  t.false(schedule.isOver(500))
  t.false(schedule.isOver(1_000))
  schedule.answered(503, { dueUs, nowUs: 1_100 })
  t.true(schedule.isOver(1_100))
  t.like(schedule.report(), { accepted: 0, refused: { 503: 1 } })
})

test('answers that never come are awaited for a bounded time', (t) => {
  const schedule = open(1_000, 1)
  schedule.take(0)
  t.false(schedule.isOver(6_000_000))
  t.true(schedule.isOver(6_600_000))
})

test('the closed loop is always due until its end', (t) => {
  const schedule = new Schedule({ pace: { kind: 'closed' }, durationMs: 1 }, 0)
  t.is(schedule.take(10), 10)
  t.is(schedule.take(10), 10)
  t.is(schedule.take(1_000), undefined)
  t.is(schedule.report().due, 2)
})
