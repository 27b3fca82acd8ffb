// Goal: numbers over time from a shell: what is sent, and what a person or a program reads.
// Method: whole command lines against a recorded fetch.

import test from 'ava'

import { sparkline } from '#src/cli/sparkline'
import { success } from '#test/support/fake-process-context'
import { CHANNEL, PASSWORD, run } from '#test/support/command-line'

const CREDENTIALS = { channel_id: CHANNEL, password: PASSWORD }
const DAY = 86_400_000
/** The command asks for a minute less than a day, of which everything is still kept. */
const DEFAULT = DAY - 60_000

const BUCKETS = {
  step: '1h',
  from: 0,
  to: 3 * 3_600_000,
  complete: true,
  attrs: {
    temperature: {
      times: [0, 3_600_000, 7_200_000],
      min: [1, 2, 3],
      mean: [1.5, 2.5, 8],
      max: [2, 3, 9],
      last: [2, 2, 4],
      count: [4, 5, 6],
    },
  },
}

const ROWS: readonly (readonly [words: string, body: object, ago: number])[] = [
  ['', {}, DEFAULT],
  ['--from 7d', {}, 7 * DAY],
  ['--attr t --attr u --step raw', { attrs: ['t', 'u'], step: 'raw' }, DEFAULT],
]
for (const [words, body, ago] of ROWS) {
  test(`thing series pump ${words} asks for it`, async (t) => {
    const { context, exitCode } = await run(`thing series pump ${words}`.trim(), {
      answer: () => success(BUCKETS),
    })
    t.is(exitCode, 0, context.shown)
    t.is(new URL(context.requests[0]?.url ?? '').pathname, '/thing/series')
    const from = context.nowMs() - ago
    t.deepEqual(context.requests[0]?.body, { ...CREDENTIALS, thing_id: 'pump', from, ...body })
  })
}

test('thing series refuses a step that is none, and sends nothing', async (t) => {
  const { context, exitCode } = await run('thing series pump --step 10m')
  t.is(exitCode, 2, context.shown)
  t.regex(context.shown, /--step: allowed: raw, 5m, 1h, 1d, auto/)
  t.deepEqual(context.requests, [])
})

const TABLE = [
  '1970-01-01T00:00:00.000Z\ttemperature\t1\t1.5\t2\t2\t4',
  '1970-01-01T01:00:00.000Z\ttemperature\t2\t2.5\t3\t2\t5',
  '1970-01-01T02:00:00.000Z\ttemperature\t3\t8\t9\t4\t6',
]

test('without a terminal series are lines with tabs, and as JSON the answer', async (t) => {
  const answer = () => success({ ...BUCKETS, complete: false })
  const { context } = await run('thing series pump', { answer })
  t.deepEqual(context.printed, TABLE)
  t.deepEqual(context.diagnostics, ['a part of that time is not kept, or was too much'])
  const { context: json } = await run('thing series pump --json', { answer })
  t.deepEqual(JSON.parse(json.printed.join('')), { ...BUCKETS, complete: false })
})

test('on a terminal each attr has a line of blocks above its table, with short numbers', async (t) => {
  const screen = { columns: 80, rows: 24, hasColor: false }
  const { temperature } = BUCKETS.attrs
  const attrs = { temperature, load: { ...temperature, mean: [200 / 3, 123_456.75, 8] } }
  const answer = () => success({ ...BUCKETS, attrs })
  const { context } = await run('thing series pump', { answer, screen })
  const table = [/^TIME +MIN +MEAN +MAX +LAST +COUNT$/, /^1970-[^ ]+ +1 +/, /^1970/, /^1970/]
  const expected = [/^temperature ▁▂█$/, ...table, /^$/, /^load ▁█▁$/, ...table]
  t.is(context.printed.length, expected.length)
  for (const [at, line] of expected.entries()) t.regex(context.printed[at] ?? '', line)
  t.regex(context.printed[8] ?? '', / 66\.6667 /)
  t.regex(context.printed[9] ?? '', / 123457 /)
})

const SHOWN: readonly (readonly [number, string])[] = [
  [66.66666666666667, '66.6667'],
  [0.1 + 0.2, '0.3'],
  [-1.5e-9, '-1.5e-9'],
  [1_234_567, '1234567'],
  [-999_999_999, '-999999999'],
  [1_234_567.89, '1234568'],
  [1_234_567_890, '1.23457e+9'],
  [2 ** 53, '9.0072e+15'],
  [-1e300, '-1e+300'],
]

test('a number of a bucket fits its column, and a whole one that fits has each of its digits', async (t) => {
  const screen = { columns: 80, rows: 24, hasColor: false }
  const numbers = SHOWN.map(([number]) => number)
  const count = numbers.map(() => 123_456)
  const load = { times: numbers.map((_, at) => at), min: numbers, mean: numbers, max: numbers }
  const attrs = { load: { ...load, last: numbers, count } }
  const { context } = await run('thing series pump', {
    answer: () => success({ ...BUCKETS, attrs }),
    screen,
  })
  for (const [at, [, shown]] of SHOWN.entries()) {
    const line = context.printed[at + 2] ?? ''
    t.deepEqual(line.split(/ +/).slice(1), [...Array<string>(4).fill(shown), '123456'])
    t.true(line.length <= screen.columns, line)
  }
})

test('a reading has each of its digits on a terminal, too', async (t) => {
  const numbers = [1_795_913_316_900, 0.1 + 0.2, 123_456_789.123]
  const attrs = { n: { times: [1, 2, 3], values: numbers } }
  const screen = { columns: 80, rows: 24, hasColor: false }
  const answer = () => success({ ...BUCKETS, step: 'raw', attrs })
  const { context } = await run('thing series pump --step raw', { answer, screen })
  t.deepEqual(
    context.printed.slice(2).map((line) => line.split(/ +/)[1]),
    numbers.map(String),
  )
})

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString()

test('raw readings are one column, and a line of blocks has the numbers among them', async (t) => {
  const attrs = { mode: { times: [1, 2], values: ['on', true] }, n: { times: [1], values: [7] } }
  const screen = { columns: 80, rows: 24, hasColor: false }
  const answer = () => success({ ...BUCKETS, step: 'raw', attrs })
  const { context } = await run('thing series pump --step raw', { answer, screen })
  t.deepEqual(
    context.printed.map((line) => line.split(/ +/).filter(Boolean).slice(-2)),
    [
      ['mode'],
      ['TIME', 'VALUE'],
      [iso(1), 'on'],
      [iso(2), 'true'],
      [],
      ['n', '▁'],
      ['TIME', 'VALUE'],
      [iso(1), '7'],
    ],
  )
})

for (const columns of [26, 40, 80, 200]) {
  test(`a line of blocks keeps within ${columns} columns`, async (t) => {
    const screen = { columns, rows: 24, hasColor: false }
    const numbers = Array.from({ length: 1_000 }, (_, at) => at)
    const series = { times: numbers, values: numbers }
    const answer = () => success({ ...BUCKETS, step: 'raw', attrs: { ['long'.repeat(9)]: series } })
    const { context } = await run('thing series pump', { answer, screen })
    t.is(context.printed[0]?.length, columns)
  })
}

test('a line of blocks has the mean of the numbers that share a block', (t) => {
  t.is(sparkline([0, 0, 7, 7], 2), '▁█')
  t.is(sparkline([5, 5], 9), '▁▁')
  t.is(sparkline([], 9), '')
  t.is(sparkline([1], 0), '')
  t.is(sparkline([-1e308, 1e308], 2).length, 2)
})
