// Goal: a typed text becomes the value that its user means.
// Method: one row for each spelling.

import test from 'ava'

import type { Json } from '#domain/submission'
import { readPairs, readTimeOption, readValue, readWhole } from '#src/cli/values'

const values: [text: string, expected: Json][] = [
  ['21.5', 21.5],
  ['-3', -3],
  ['1e3', 1000],
  ['true', true],
  ['false', false],
  ['null', null],
  ['{"a":{"b":1}}', { a: { b: 1 } }],
  ['[1,"x"]', [1, 'x']],
  ['"21.5"', '21.5'],
  ['', ''],
  ['warm', 'warm'],
  ['TRUE', 'TRUE'],
  ['007', '007'],
  ['{broken', '{broken'],
  ['NaN', 'NaN'],
  // A text that a number cannot carry exactly stays as it was typed.
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740993', '9007199254740993'],
  ['1e999', '1e999'],
  ['{"a":1e999}', '{"a":1e999}'],
]

test('a value is JSON where it parses as JSON, else text', (t) => {
  for (const [text, expected] of values) t.deepEqual(readValue(text), expected, text)
})

test('readPairs divides pairs at the first equals sign, and null removes a key', (t) => {
  t.is(
    JSON.stringify(readPairs(['a=1', 'b=x=y', 'c=null', 'd=', 'a=2'])),
    '{"a":2,"b":"x=y","c":null,"d":""}',
  )
})

test('a key that names a prototype is plain data', (t) => {
  const attrs = readPairs(['__proto__={"polluted":true}', 'constructor=1'])
  t.is(JSON.stringify(attrs), '{"__proto__":{"polluted":true},"constructor":1}')
  t.false('polluted' in {})
})

test('the error for a pair without a key does not repeat the pair', (t) => {
  for (const pair of ['hunter2', '=hunter2', '']) {
    const error = t.throws(() => readPairs([pair]))
    t.notRegex(error.message, /hunter2/)
  }
})

const times: [text: string, expected: number][] = [
  ['1700000000', 1_700_000_000],
  ['1700000000123', 1_700_000_000_123],
  ['1700000000.5', 1_700_000_000.5],
  ['2026-01-31T12:00:00Z', Date.UTC(2026, 0, 31, 12)],
]

test('a time is a number as the gateway reads it, or a date', (t) => {
  for (const [text, expected] of times) t.is(readTimeOption(text), expected, text)
  for (const text of ['', 'yesterday', '12:00', 'tomorrow 5', '+90', '90 days'])
    t.throws(() => readTimeOption(text), undefined, text)
})

test('readWhole refuses a number beyond its limits', (t) => {
  const read = readWhole(1, 100)
  t.deepEqual(['1', '100'].map(read), [1, 100])
  for (const text of ['0', '101', '1.5', '-1', '', 'x', '1e1'])
    t.throws(() => read(text), undefined, text)
})
