import test from 'ava'

import { numberOf, tableOf } from './table.ts'
import type { Figure } from './rows/row.ts'

const FIGURE: Figure = {
  row: 'accept',
  unit: '/s',
  value: { median: 12_345, min: 12_000, max: 13_000 },
  denominator: {
    id: 'D1',
    value: { median: 49_380, min: 49_000, max: 50_000 },
    ratio: { median: 0.25, min: 0.24, max: 0.265 },
  },
  goal: { kind: 'ratio-at-least', must: 0.25, aim: 0.45 },
  details: {},
}

test('a figure stands beside its denominator, the ratio and the goals', (t) => {
  const [, , line = ''] = tableOf([FIGURE]).split('\n')
  t.deepEqual(line.split(/ {2,}/), [
    'accept',
    '12,345 (12,000–13,000)',
    '/s',
    'D1',
    '49,380 (49,000–50,000)',
    '0.25 (0.24–0.27)',
    '≥ 0.25',
    '≥ 0.45',
    'must',
  ])
})

test('columns line up whatever stands in them', (t) => {
  const failed = { ...FIGURE, row: 'a-much-longer-name', value: undefined, failure: 'lost 1 of 2' }
  const lines = tableOf([FIGURE, failed]).split('\n')
  t.is(lines[2]?.indexOf('/s'), lines[3]?.indexOf('/s'))
})

test('a failed row shows no rate and gives the reason', (t) => {
  const { value: _, ...rest } = FIGURE
  const text = tableOf([{ ...rest, value: undefined, failure: 'lost 1 of 2' }])
  t.regex(text, /accept +FAILED/)
  t.regex(text, /accept: lost 1 of 2$/)
})

const NUMBERS: readonly [value: number, text: string][] = [
  [0.123_45, '0.123'],
  [9.876, '9.88'],
  [99.95, '100'],
  [100.4, '100'],
  [1_234_567.8, '1,234,568'],
]

for (const [value, text] of NUMBERS) {
  test(`${value} is printed as ${text}`, (t) => {
    t.is(numberOf(value), text)
  })
}
