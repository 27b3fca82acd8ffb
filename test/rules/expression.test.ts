// Goal: reading expressions without end leaves no more behind than reading some.
// Method: count the types that the library keeps for good, and its environments, which keep the rest.

import test from 'ava'
import { Environment } from '@marcbachmann/cel-js'
import * as fc from 'fast-check'

import { expressionOf } from '#test/support/cel'
import { telling } from '#test/support/counted-work'

const plain = fc.constantFrom('1', '"a"', '1.5', 'true', 'attrs.x', 'null')
const made = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    inner.map((item) => `[${item}]`),
    fc.tuple(plain, inner).map(([key, item]) => `{${key}: ${item}}`),
    inner.map((item) => `attrs.l.map(x, ${item})`),
  )
const deep = made(made(made(made(plain))))
const flat = made(plain)

/** Runs a job; gives the types that the library keeps from then on. */
function keptBy(job: () => void): ReadonlySet<string> {
  const kept = new Set<string>()
  const note = (_: unknown, [key]: readonly unknown[]): void => {
    if (typeof key === 'string' && /^(list|map)</.test(key)) kept.add(key)
  }
  telling(Map.prototype, 'set', note, job)
  return kept
}

/** Compiles expressions over values of random types; gives how many of them are right. */
const compileAll = (values: fc.Arbitrary<string>): number =>
  fc
    .sample(fc.tuple(values, values), 1_500)
    .filter(([a, b]) => expressionOf(`size(${a}) > 0 || ${b} == attrs.x`) !== undefined).length

test('tree/1: the library keeps few types, however many expressions it has checked', (t) => {
  const first = keptBy(() => t.true(compileAll(flat) > 300))
  t.true(first.size < 200, String(first.size))
  const nested = keptBy(() => t.true(compileAll(deep) < 300))
  t.true(nested.size < 200, String(nested.size))
})

test('expression/3: an environment checks so many expressions, and then there is a new one', (t) => {
  let environments = 0
  const note = (_: unknown, [name]: readonly unknown[]): void => {
    if (name === 'attrs') environments += 1
  }
  telling(Environment.prototype, 'registerVariable', note, () => {
    for (let count = 0; count < 2_000; count += 1) expressionOf('attrs.x > 1')
  })
  t.is(environments, 2)
})
