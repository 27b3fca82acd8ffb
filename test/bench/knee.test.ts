import test from 'ava'

import { findKnee, rateOf } from './rig/knee.ts'

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
    const knee = await findKnee({ saturationPerSecond, runs: 3, attempt })
    const { median = 0, steps = [] } = knee ?? {}
    t.true(median <= limit && median > limit * 0.94, `found ${median}`)
    t.is(steps.length, 3)
  })
}

test('B6: a knee was sustained at full length, whatever the short steps said', async (t) => {
  const { attempt, attempts } = subject(() => 0)
  const optimistic = (rate: number, length: 'short' | 'full') =>
    length === 'short' ? Promise.resolve({ isSustained: true }) : attempt(rate, length)
  t.is(await findKnee({ saturationPerSecond: 10_000, runs: 1, attempt: optimistic }), undefined)
  t.true(attempts.length > 0)
})

for (const limit of [0, Number.POSITIVE_INFINITY]) {
  test(`B7: the search of a subject with a limit of ${limit} ends`, async (t) => {
    const { attempt, attempts } = subject(() => limit)
    await findKnee({ saturationPerSecond: 10_000, runs: 3, attempt })
    t.is(attempts.length, 7 + 3 * 5)
  })
}

test('B10: a closed loop measured in a bad moment does not bound the knee', async (t) => {
  const { attempt } = subject(() => 30_000)
  const knee = await findKnee({ saturationPerSecond: 5_000, runs: 3, attempt })
  t.true((knee?.max ?? 0) > 28_000)
})

test('a subject that becomes slower between runs shows it in the least knee', async (t) => {
  const slow = subject((attempt) => (attempt > 8 ? 5_000 : 10_000))
  const knee = await findKnee({ saturationPerSecond: 10_000, runs: 3, attempt: slow.attempt })
  t.true((knee?.min ?? 0) <= 5_000)
  t.true((knee?.max ?? 0) > 9_000)
})

test('each rate of the ladder is 5 % below the one before, and one is the least', (t) => {
  t.is(rateOf(10_000, 0), 10_000)
  t.is(rateOf(10_000, 1), 9_500)
  t.is(rateOf(10_000, -1), 10_526)
  t.is(rateOf(10_000, 1_000), 1)
})
