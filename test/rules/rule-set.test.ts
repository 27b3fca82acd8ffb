// Goal: how far the rules of a channel reach: how many of them one Thing may set off, at most.

import test from 'ava'

import { FEW_RULES } from '#domain/rules/stored'
import type { StoredRule } from '#domain/rules/stored'
import { RuleSet } from '#src/rules/rule-set'
import { ruleId, ruleOf } from '#test/support/rules'

const stored = (id: string, members: object): StoredRule => ({
  ruleId: ruleId(id),
  text: JSON.stringify(ruleOf(members)),
  version: id,
  since: 0,
  createdAt: 0,
  updatedAt: 0,
})

const many = (count: number, membersOf: (number: number) => object): readonly StoredRule[] =>
  Array.from({ length: count }, (_, number) => stored(`r${number}`, membersOf(number)))

const MANY = 2 * FEW_RULES
const own = (number: number) => ({ things: { ids: [`a${number}`, `b${number}`] } })

for (const [what, rules, reach] of [
  ['no rules', [], 0],
  ['few rules, each for a Thing of its own', many(FEW_RULES, own), FEW_RULES],
  ['rules for all Things', many(MANY, () => ({})), MANY],
  ['rules for Things by a prefix', many(MANY, () => ({ things: { prefix: 'a' } })), MANY],
  ['rules for a Thing each', many(MANY, own), 1],
  ['rules for one Thing', many(MANY, () => ({ things: { ids: ['a'] } })), MANY],
  ['rules that are off', many(MANY, () => ({ enabled: false })), 0],
] as const) {
  test(`the reach of ${what} is ${reach}`, (t) => {
    t.is(RuleSet.of(rules).reach, reach)
  })
}

test('the reach follows the rules that are put and deleted', (t) => {
  const general = many(MANY, () => ({}))
  let set = RuleSet.of([...general, stored('named', { things: { ids: ['a'] } })])
  t.is(set.reach, MANY + 1)
  set = set.with(ruleId('named'), undefined)
  t.is(set.reach, MANY)
  set = set.with(ruleId('r0'), set.compiled(stored('r0', { things: { ids: ['a'] } })))
  t.is(set.reach, MANY)
  set = set.with(ruleId('r0'), undefined)
  t.is(set.reach, MANY - 1)
})
