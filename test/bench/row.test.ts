import test from 'ava'

import type { LoadReport } from './load/messages.ts'
import { cpuMicrosOf, divided } from './rows/measured.ts'
import { recordOf, verdictOf } from './rows/row.ts'
import type { Denominator, Figure, Goal, Verdict } from './rows/row.ts'
import { ROWS } from './rows/all.ts'

const LOAD: LoadReport = {
  due: 0,
  answered: 0,
  accepted: 0,
  refused: {},
  lost: 0,
  elapsedMs: 1,
  acceptedPerSecond: 0,
  latency: { count: 0, p50Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0 },
}

const range = (median: number) => ({ median, min: median - 1, max: median + 1 })
const ATLEAST: Goal = { kind: 'ratio-at-least', must: 0.25, aim: 0.5 }
const RATIO_ATMOST: Goal = { kind: 'ratio-at-most', must: 2.5, aim: 1.25 }
const ATMOST: Goal = { kind: 'at-most', must: 30, aim: 8 }

const knees = (rates: readonly (number | undefined)[]) => ({
  runs: rates.map((rate) => (rate === undefined ? undefined : { ratePerSecond: rate })),
})

function figure(goal: Goal, value: number | undefined, below?: number): Figure {
  return {
    row: 'row',
    unit: 'unit',
    value: value === undefined ? undefined : range(value),
    goal,
    details: {},
    ...(below !== undefined && { denominator: denominatorOf(value, below) }),
  }
}

const denominatorOf = (value: number | undefined, below: number): Denominator => ({
  id: 'D1',
  value: range(below),
  ratio: value === undefined ? undefined : range(value / below),
})

const VERDICTS: readonly [figure: Figure, expected: Verdict][] = [
  [figure(ATLEAST, 50, 100), 'aim'],
  [figure(ATLEAST, 49, 100), 'must'],
  [figure(ATLEAST, 25, 100), 'must'],
  [figure(ATLEAST, 24, 100), 'no'],
  [figure(ATLEAST, undefined, 100), 'FAILED'],
  [figure(RATIO_ATMOST, 250, 200), 'aim'],
  [figure(RATIO_ATMOST, 500, 200), 'must'],
  [figure(RATIO_ATMOST, 502, 200), 'no'],
  [figure(RATIO_ATMOST, 250), 'FAILED'],
  [figure(ATLEAST, 50), 'FAILED'],
  [figure(ATMOST, 8), 'aim'],
  [figure(ATMOST, 9), 'must'],
  [figure(ATMOST, 30), 'must'],
  [figure(ATMOST, 31), 'no'],
  [figure(ATMOST, undefined), 'FAILED'],
]

for (const [each, expected] of VERDICTS) {
  test(`${each.goal.kind}: ${each.value?.median} over ${each.denominator?.value?.median} meets ${expected}`, (t) => {
    t.is(verdictOf(each), expected)
  })
}

test('a ratio divides the figures of one run, whatever the machine gave in the next', (t) => {
  const product = knees([10_000, 4_000, undefined, 6_000])
  const below = knees([20_000, 10_000, 10_000, undefined])
  t.deepEqual(divided(product, below), { median: 0.4, min: 0.4, max: 0.5 })
  t.is(divided(knees([undefined]), knees([10_000])), undefined)
})

test('a figure that failed is written with its reason and no rate', (t) => {
  const failed = { ...figure(ATLEAST, undefined, 100), failure: 'lost 1' }
  t.like(recordOf(failed), { value: null, ratio: null, meets: 'FAILED', denominator: 100 })
  t.like(recordOf(failed)['details'], { failure: 'lost 1' })
})

test('a record carries the values that the table shows', (t) => {
  t.like(recordOf(figure(ATLEAST, 50, 100)), {
    row: 'row',
    value: 50,
    unit: 'unit',
    denominator: 100,
    ratio: 0.5,
    must: 0.25,
    aim: 0.5,
    meets: 'aim',
  })
})

test('every row has its own name', (t) => {
  const names = ROWS.map(({ name }) => name)
  t.is(new Set(names).size, names.length)
})

test('CPU per submission is the median over the steps, for every process', (t) => {
  const step = (server: number, nats: number, accepted: number) => ({
    cpuSeconds: { server, generator: 0, subscriber: 0, backend: { nats } },
    load: { ...LOAD, accepted },
  })
  const steps = [step(1, 3, 1e6), step(4, 4, 2e6), step(9, 15, 3e6)]
  t.deepEqual(cpuMicrosOf(steps), { server: 2, generator: 0, subscriber: 0, nats: 3 })
  t.deepEqual(cpuMicrosOf([]), {})
})
