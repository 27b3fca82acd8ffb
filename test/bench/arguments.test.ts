import test from 'ava'

import { readArguments } from './arguments.ts'

const ROWS = ['accept', 'latency', 'start']

test('without arguments every row runs, three times, for five seconds', (t) => {
  t.deepEqual(readArguments([], ROWS), {
    rows: ROWS,
    jsonFile: undefined,
    secondsPerStep: 5,
    runs: 3,
  })
})

test('the asked rows run in the order of the table', (t) => {
  const words = ['start', 'accept', '--json', 'out.json', '--seconds', '0.5', '--runs', '25']
  t.deepEqual(readArguments(words, ROWS), {
    rows: ['accept', 'start'],
    jsonFile: 'out.json',
    secondsPerStep: 0.5,
    runs: 25,
  })
})

test('a row that takes long runs only when it is named', (t) => {
  const rowsOf = (...words: readonly string[]) => {
    const read = readArguments(words, ROWS, ['soak'])
    return typeof read === 'string' ? read : read.rows
  }
  t.deepEqual(rowsOf(), ROWS)
  t.deepEqual(rowsOf('soak', 'start'), ['start', 'soak'])
})

const REFUSED: readonly [words: readonly string[], sentence: RegExp][] = [
  [['fast'], /there is no row fast; rows: accept, latency, start/],
  [['--seconds', '0.4'], /--seconds/],
  [['--seconds', '601'], /--seconds/],
  [['--seconds', ''], /--seconds/],
  [['--runs', '0'], /--runs/],
  [['--runs', '26'], /--runs/],
  [['--runs', '1.5'], /--runs/],
  [['--speed', '9'], /--speed/],
]

for (const [words, sentence] of REFUSED) {
  test(`${words.join(' ')} is refused with a sentence`, (t) => {
    const read = readArguments(words, ROWS)
    t.regex(typeof read === 'string' ? read : '', sentence)
  })
}
