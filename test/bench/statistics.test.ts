import test from 'ava'

import { Latencies, percentile, spread } from './load/statistics.ts'
import { steadiness } from './load/steadiness.ts'

// One row a line: sorted values, share, the value that the share of them does not exceed.
const PERCENTILES: readonly [values: readonly number[], share: number, expected: number][] = [
  [[7], 0.5, 7],
  [[7], 0.99, 7],
  [[1, 2], 0.5, 1],
  [[1, 2], 0.51, 2],
  [[1, 2, 3, 4], 0, 1],
  [[1, 2, 3, 4], 1, 4],
  [Array.from({ length: 100 }, (_, index) => index + 1), 0.99, 99],
  [Array.from({ length: 101 }, (_, index) => index + 1), 0.99, 100],
]

for (const [values, share, expected] of PERCENTILES) {
  test(`the ${share} percentile of ${values.length} values from ${values[0]} is ${expected}`, (t) => {
    t.is(percentile(values, share), expected)
  })
}

test('there is no percentile of nothing', (t) => {
  t.is(percentile([], 0.5), Number.NaN)
})

test('a spread is the middle run with the least and the greatest', (t) => {
  t.deepEqual(spread([30, 10, 20]), { median: 20, min: 10, max: 30 })
  t.deepEqual(spread([5]), { median: 5, min: 5, max: 5 })
})

test('latencies beyond the first buffer are kept, and numbers are sorted as numbers', (t) => {
  const latencies = new Latencies()
  for (let micros = 100_000; micros >= 1; micros -= 1) latencies.add(micros)
  t.like(latencies.summary(), { count: 100_000, p50Ms: 50, p99Ms: 99, maxMs: 100 })
  latencies.clear()
  t.is(latencies.summary().count, 0)
})

test('how steady a machine is shows in what one computation takes, half of the time and at most', (t) => {
  let calls = 0
  let nowMs = 0
  // Each second call ends a round: one of fifty takes 20 ms, the others 5.
  const clock = (): number => {
    calls += 1
    if (calls % 2 === 0) nowMs += calls % 100 === 0 ? 20 : 5
    return nowMs
  }
  t.deepEqual(steadiness(clock, 1), { p50Ms: 5, p99Ms: 20 })
})
