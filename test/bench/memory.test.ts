import test from 'ava'

import { growthPercent } from './rows/memory.ts'

const SERIES: readonly [title: string, samples: readonly number[], percent: number][] = [
  ['memory that stays where it is has not grown', [100, 100, 100, 100, 100], 0],
  ['what the first fifth does counts for nothing', [10, 100, 100, 100, 100], 0],
  ['the last fifth is held against the second', [1, 100, 500, 900, 110], 10],
  ['memory that was given back is growth below zero', [1, 100, 90, 80, 50], -50],
  ['a fifth counts with its mean', [0, 0, 90, 110, 0, 0, 0, 0, 120, 100], 10],
]

for (const [title, samples, percent] of SERIES) {
  test(title, (t) => {
    t.true(Math.abs(growthPercent(samples) - percent) < 1e-9)
  })
}

test('samples that cannot be shared evenly are all used', (t) => {
  t.true(Math.abs(growthPercent([1, 100, 100, 5, 5, 5, 200]) - 100) < 1e-9)
})

test('without samples there is no growth to tell', (t) => {
  t.is(growthPercent([]), Number.NaN)
})
