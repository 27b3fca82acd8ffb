// Goal: whatever happens to stores, owners and processes, every submission has its effect exactly
// once and in order. (W2, W3, W6, W9, turn/1, turn-records/5, channel/2, actor/2, owned-lanes/1)
// Method: random logs are applied by actor systems that take lanes from each other, are replaced
// while they still run, and whose store calls fail in every way. What is left in the store must
// equal a plain fold over the log, one submission after the other, that knows nothing of turns,
// memory or faults.

import test from 'ava'
import * as fc from 'fast-check'

import { PLAIN, worlds, wrongIn } from '#test/support/replay-world'
import type { Play } from '#test/support/replay-world'
import { rulesPlay, rulesWorlds } from '#test/support/rules-world'

const RUNS = 300
const RUNS_WITH_TICKS = 100
const RUNS_WITH_RULES = 80

const propertyOf = (play: Play) =>
  fc.asyncProperty(worlds, async (world) => {
    const wrong = await wrongIn(world, play)
    if (wrong !== undefined) throw new Error(wrong)
  })
const property = propertyOf(PLAIN)

test('W2, W3: owners, faults and restarts do not change the result of a log', async (t) => {
  await fc.assert(property, { numRuns: RUNS, includeErrorInReport: true })
  t.pass()
})

test('W2, W3: ticks of the lanes do not change the result of a log', async (t) => {
  await fc.assert(propertyOf({ ...PLAIN, tickAt: (step) => step }), {
    numRuns: RUNS_WITH_TICKS,
    includeErrorInReport: true,
  })
  t.pass()
})

const ofRules = fc.asyncProperty(rulesWorlds, async (world) => {
  const wrong = await wrongIn(world, rulesPlay)
  if (wrong !== undefined) throw new Error(wrong)
})

test('R1, R3, R5, R7, W2, W3: rules fire the same whatever happens to owners and turns', async (t) => {
  await fc.assert(ofRules, { numRuns: RUNS_WITH_RULES, includeErrorInReport: true })
  t.pass()
})

// Method: a Thing of which two rules have fired is deleted, after an owner that has read its watches
// and beside one that has made them.
test('watching/3: Events of a deleted Thing end in the order of their rules', async (t) => {
  const world = { seed: 21_498_897, path: '1024', numRuns: 1 }
  await fc.assert(ofRules, { ...world, includeErrorInReport: true })
  t.pass()
})
