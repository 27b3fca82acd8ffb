// Goal: one period of high load is one Event. Method: the demo's own rules over readings.

import test from 'ava'

import { readRule } from '#src/rules/read-rule'
import { demoRules } from '#src/dev/demo/publisher'
import { play, reading } from '#test/support/rules'

test('a gateway takes the rules of the demo', (t) => {
  for (const [id, rule] of Object.entries(demoRules(80))) t.is(readRule(rule).kind, 'rule', id)
})

/** Readings two seconds apart, and what happens at which second. */
const ROWS: readonly (readonly [values: readonly number[], actions: readonly string[]])[] = [
  [[10, 79.9, 80, 80], []],
  [[81, 10, 81, 10], []],
  [
    [81, 95, 70, 64],
    ['open 3', 'update 6'],
  ],
  [
    [81, 81, 64, 63.9, 90, 90, 90],
    ['open 3', 'close 6', 'open 11'],
  ],
]

test('the load is high once it was above the threshold for three seconds, until it falls below four fifths of it', (t) => {
  const { when, clear, event, for: lasting } = demoRules(80)['load-is-high'] ?? {}
  const members = { ...rename({ when, clear }), for: lasting, event, things: 'all' }
  for (const [values, actions] of ROWS) {
    const said = play(
      members,
      values.map((value, s) => reading(2 * s, value)),
    )
    t.deepEqual(
      said.map((one) => one.split(' ').slice(0, 2).join(' ')),
      actions,
      values.join(),
    )
  }
})

/** The conditions over the attr of readings in tests. */
const rename = (conditions: object): object =>
  JSON.parse(JSON.stringify(conditions).replaceAll('cpu_percent', 't')) as object
