import test from 'ava'

import { spread } from './load/statistics.ts'
import { findKnees, rateOf } from './rig/knee.ts'
import type { SearchOptions, Sustained } from './rig/knee.ts'

/** A subject that sustains what the limit of its n-th attempt allows. */
function subject(limitOf: (attempt: number) => number) {
  const attempts: { ratePerSecond: number; length: string }[] = []
  return {
    attempts,
    attempt: (ratePerSecond: number, length: 'short' | 'full') => {
      attempts.push({ ratePerSecond, length })
      return Promise.resolve({ isSustained: ratePerSecond <= limitOf(attempts.length) })
    },
  }
}

/** The rates that the runs of one subject found. */
async function ratesOf(search: SearchOptions<Sustained>, runs: number): Promise<number[]> {
  const found = await findKnees([search], runs)
  return found.flatMap(([knee]) => (knee === undefined ? [] : [knee.ratePerSecond]))
}

const LIMITS: readonly [limit: number, saturation: number][] = [
  [10_000, 10_000],
  [9_000, 10_000],
  [7_000, 10_000],
  [2_000, 10_000],
  [17_000, 10_000],
  [40_000, 10_000],
]

for (const [limit, saturationPerSecond] of LIMITS) {
  test(`a limit of ${limit}/s at a saturation of ${saturationPerSecond}/s is found within a rung`, async (t) => {
    const { attempt } = subject(() => limit)
    const rates = await ratesOf({ saturationPerSecond, attempt }, 3)
    const { median } = spread(rates)
    t.true(median <= limit && median > limit * 0.94, `found ${median}`)
    t.is(rates.length, 3)
  })
}

test('knee/1: a knee was sustained at full length, whatever the short steps said', async (t) => {
  const { attempt, attempts } = subject(() => 0)
  const optimistic = (rate: number, length: 'short' | 'full') =>
    length === 'short' ? Promise.resolve({ isSustained: true }) : attempt(rate, length)
  t.deepEqual(await ratesOf({ saturationPerSecond: 10_000, attempt: optimistic }, 1), [])
  t.true(attempts.length > 0)
})

for (const limit of [0, Number.POSITIVE_INFINITY]) {
  test(`knee/2: the search of a subject with a limit of ${limit} ends`, async (t) => {
    const { attempt, attempts } = subject(() => limit)
    await ratesOf({ saturationPerSecond: 10_000, attempt }, 3)
    t.is(attempts.length, 7 + 3 * 5)
  })
}

test('knee/3: a closed loop measured in a bad moment does not bound the knee', async (t) => {
  const { attempt } = subject(() => 30_000)
  const rates = await ratesOf({ saturationPerSecond: 5_000, attempt }, 3)
  t.true(Math.max(...rates) > 28_000)
})

test('a subject that becomes slower between runs shows it in a later knee', async (t) => {
  const slow = subject((attempt) => (attempt > 8 ? 5_000 : 10_000))
  const rates = await ratesOf({ saturationPerSecond: 10_000, attempt: slow.attempt }, 3)
  t.true(Math.max(...rates) > 9_000)
  t.true((rates.at(-1) ?? Infinity) <= 5_000)
})

test('knee/4: steps of two subjects never overlap and alternate while both search', async (t) => {
  const order: string[] = []
  let underWay = 0
  const search = (name: string, limit: number): SearchOptions<Sustained> => ({
    saturationPerSecond: 10_000,
    attempt: async (ratePerSecond) => {
      order.push(name)
      underWay += 1
      t.is(underWay, 1)
      await new Promise(setImmediate)
      underWay -= 1
      return { isSustained: ratePerSecond <= limit }
    },
  })
  const found = await findKnees([search('fast', 10_000), search('slow', 5_000)], 2)
  t.deepEqual(order.slice(0, 6), ['fast', 'slow', 'fast', 'slow', 'fast', 'slow'])
  t.is(found.length, 2)
  for (const [fast, slow] of found) {
    t.true((fast?.ratePerSecond ?? 0) > 9_400 && (slow?.ratePerSecond ?? 0) > 4_700)
  }
})

test('each rate of the ladder is 5 % below the one before, and one is the least', (t) => {
  t.is(rateOf(10_000, 0), 10_000)
  t.is(rateOf(10_000, 1), 9_500)
  t.is(rateOf(10_000, -1), 10_526)
  t.is(rateOf(10_000, 1_000), 1)
})
