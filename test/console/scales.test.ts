// Goal: a chart shows every value in its span, its axes name round ones, and a gap is no line.

import test from 'ava'

import { bandOf, pathsOf, rangeOfLines, roundTimes, roundValues } from '#console/charts/scales.ts'
import type { Line } from '#console/state/past/thing-history.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const line = (...values: readonly (number | null)[]): Line => ({
  times: values.map((_, at) => at * 10),
  values,
  low: values,
  high: values,
})
const SPAN = { fromMs: 0, toMs: 100 }
const same = (value: number): number => value

test('the range of a chart has its values in the span, and the limits near them', (t) => {
  const limit = (value: number) => ({ side: 'above', value }) as const
  const { low, high } = rangeOfLines([line(10, 20)], SPAN, [limit(30), limit(500)])
  t.true(low < 10 && low > 8)
  t.true(high > 30 && high < 33)
  t.deepEqual(rangeOfLines([line(1, 2, 90)], { fromMs: 0, toMs: 10 }, []), {
    low: 0.94,
    high: 2.06,
  })
  t.deepEqual(rangeOfLines([line(null)], SPAN, []), { low: 0, high: 1 })
  const alike = rangeOfLines([line(5, 5)], SPAN, [])
  t.true(alike.low < 5 && alike.high > 5)
})

test('noise does not fill a chart: its values are so far apart at least', (t) => {
  const seen = { ...SPAN, leastSpan: 4 }
  t.deepEqual(rangeOfLines([line(20, 20.2)], seen, []), { low: 18.1, high: 22.1 })
  t.deepEqual(rangeOfLines([line(0, 100)], seen, []), { low: -6, high: 106 })
  const near = rangeOfLines([line(20, 20.2)], seen, [{ side: 'above', value: 17 }])
  t.true(near.low < 17, 'a limit that is near for such a range is shown')
})

test('the values that an axis names are round', (t) => {
  t.deepEqual(roundValues({ low: 0.07, high: 0.44 }, 4), [0.1, 0.2, 0.3, 0.4])
  t.deepEqual(roundValues({ low: -12, high: 31 }, 5), [-10, 0, 10, 20, 30])
  t.deepEqual(roundValues({ low: 995, high: 1_013 }, 4), [995, 1_000, 1_005, 1_010])
})

for (const [name, lengthMs, everyMs] of [
  ['ten minutes', HOUR_MS, HOUR_MS / 6],
  ['three hours', DAY_MS, 3 * HOUR_MS],
  ['a day', 7 * DAY_MS, DAY_MS],
] as const) {
  test(`the times of a chart of ${lengthMs / HOUR_MS} h are ${name} apart`, (t) => {
    const fromMs = new Date(2026, 0, 12, 7, 3).getTime()
    const times = roundTimes(fromMs, fromMs + lengthMs, 8)
    t.true(times.length >= 6 && times.length <= 8, `${times.length} times`)
    for (const [at, time] of times.slice(1).entries()) t.is(time - (times[at] ?? 0), everyMs)
    t.true(times.every((time) => time % (10 * 60_000) === 0))
  })
}

test('a year is divided by months, which begin at the first', (t) => {
  const fromMs = new Date(2025, 4, 17).getTime()
  const times = roundTimes(fromMs, fromMs + 365 * DAY_MS, 8)
  t.is(times.length, 6)
  for (const time of times) t.is(new Date(time).getDate(), 1)
})

test('a line begins anew after a gap, and a value alone is a dot', (t) => {
  t.deepEqual(pathsOf(line(1, 2, null, 3), same, same), {
    path: 'M0.0 1.0L10.0 2.0',
    dots: 'M30.0 3.0h0',
  })
})

test('a band goes around the least and the greatest values, and not over a gap', (t) => {
  const steps: Line = { ...line(2, 3, null), low: [1, 2, null], high: [4, 5, null] }
  t.is(bandOf(steps, same, same), 'M0.0 4.0L10.0 5.0L10.0 2.0L0.0 1.0Z')
  t.is(bandOf(line(1, 2), same, same), '')
})
