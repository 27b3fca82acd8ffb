// Goal: whatever happens to stores, owners and processes, every submission has its effect exactly
// once and in order. (W2, W3, W6, W9, turn/1, turn-uses/1, channel/2, actor/2, owned-lanes/1)
// Method: random logs are applied by actor systems that take lanes from each other, are replaced
// while they still run, and whose store calls fail in every way. What is left in the store must
// equal a plain fold over the log, one submission after the other, that knows nothing of turns,
// memory or faults.

import test from 'ava'
import * as fc from 'fast-check'

import { worlds, wrongIn } from '#test/support/replay-world'

const RUNS = 300
const RUNS_WITH_TICKS = 100

const propertyOf = (hasTicks: boolean) =>
  fc.asyncProperty(worlds, async (world) => {
    const wrong = await wrongIn(world, hasTicks)
    if (wrong !== undefined) throw new Error(wrong)
  })
const property = propertyOf(false)

test('W2, W3: owners, faults and restarts do not change the result of a log', async (t) => {
  await fc.assert(property, { numRuns: RUNS, includeErrorInReport: true })
  t.pass()
})

test('W2, W3: ticks of the lanes do not change the result of a log', async (t) => {
  await fc.assert(propertyOf(true), { numRuns: RUNS_WITH_TICKS, includeErrorInReport: true })
  t.pass()
})

// Method: in these worlds a turn begins with a submission of a parked channel, and another of its
// submissions breaks it.
for (const [seed, path] of [
  [-117_451_284, '4817'],
  [-1_439_988_297, '29292'],
] as const) {
  test(`W6: no lane waits for ever in world ${path} of seed ${seed}`, async (t) => {
    await fc.assert(property, { seed, path, numRuns: 1, includeErrorInReport: true })
    t.pass()
  })
}
