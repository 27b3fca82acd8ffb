// Goal: equal rules of many channels are one in memory, for as long as a channel has it.

import test from 'ava'
import * as fc from 'fast-check'

import { SharedRules } from '#machines/shared-rules'
import { NO_RULES } from '#machines/watching'
import { RuleSet } from '#src/rules/rule-set'
import { ruleId, ruleOf } from '#test/support/rules'

const LIMITS = [1, 2, 3]

const setOf = (limits: readonly number[], shared: SharedRules): RuleSet =>
  RuleSet.of(
    limits.map((above, index) => ({
      ruleId: ruleId(`r${index}`),
      text: JSON.stringify(ruleOf({ when: { attr: 't', above } })),
      version: 'v',
      since: 0,
      createdAt: 0,
      updatedAt: 0,
    })),
    shared.compile,
  )

test('shared-rules/1: a rule is compiled once and counted once while channels have it', (t) => {
  const change = fc.record({
    channel: fc.nat(3),
    limits: fc.array(fc.constantFrom(...LIMITS), { maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const shared = new SharedRules()
      const channels = new Map<number, RuleSet>()
      const have = (channel: number, rules: RuleSet): void => {
        shared.replace(channels.get(channel) ?? NO_RULES, rules)
        channels.set(channel, rules)
      }
      for (const { channel, limits } of changes) {
        have(channel, setOf(limits, shared))
        const had = new Set(
          [...channels.values()].flatMap(({ all }) => [...all].map(({ compiled }) => compiled)),
        )
        t.is(shared.size, had.size)
        t.is(
          shared.bytes,
          [...had].reduce((sum, { bytes }) => sum + bytes, 0),
        )
      }
      for (const channel of channels.keys()) have(channel, NO_RULES)
      t.deepEqual([shared.size, shared.bytes], [0, 0])
    }),
  )
})

test('shared-rules/1: channels share a rule, its text and what it says, and no state', (t) => {
  const shared = new SharedRules()
  const [one, other] = [setOf([1], shared), RuleSet.of([])]
  shared.replace(NO_RULES, one)
  shared.replace(other, setOf([1], shared))
  const [first] = one.all
  const [second] = setOf([1], shared).all
  t.is(first?.compiled, second?.compiled)
  t.not(first?.active, second?.active)
  t.is(shared.size, 1)
})
