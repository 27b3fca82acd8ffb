// Goal: R3 against a model that knows no deadlines, and the rules of a channel by their Things.

import test from 'ava'
import * as fc from 'fast-check'

import type { StoredRule } from '#domain/rules/stored'
import { RuleSet } from '#src/rules/rule-set'
import { play, reading, ruleId, ruleOf, tick } from '#test/support/rules'
import type { Moment } from '#test/support/rules'

// ---- R3 against a model ---------------------------------------------------------------------------

const steps = fc.array(
  fc.record({ gap: fc.integer({ min: 1, max: 8 }), isHot: fc.boolean(), ticks: fc.boolean() }),
  { maxLength: 30 },
)

/** The firings of `above 30 for 10s`: each run of hot readings that lasts. */
function firings(
  readings: readonly { readonly s: number; readonly isHot: boolean }[],
  end: number,
) {
  const found: string[] = []
  let since: number | undefined
  for (const { s, isHot } of [...readings, { s: end, isHot: false }]) {
    if (isHot) since ??= s
    else {
      if (since !== undefined && since + 10 <= s)
        found.push(`open ${since + 10} normal since ${since}`)
      since = undefined
    }
  }
  return found
}

test('R3, rule-watch/1: a firing is a run of readings that lasts, whenever the ticks come', (t) => {
  fc.assert(
    fc.property(steps, (list) => {
      let s = 0
      const readings = list.map(({ gap, isHot, ticks }) => ({ s: (s += gap), isHot, ticks }))
      const moments = readings.flatMap(({ s: at, isHot, ticks }): Moment[] => [
        ...(ticks ? [tick(at)] : []),
        reading(at, isHot ? 31 : 1),
      ])
      const end = s + 100
      const opened = play({ for: '10s' }, [...moments, tick(end)]).filter((one) =>
        one.startsWith('open'),
      )
      t.deepEqual(opened, firings(readings, end))
    }),
    { numRuns: 200 },
  )
})

// ---- the rules of a channel -------------------------------------------------------------------------

const stored = (id: string, members: object): StoredRule => ({
  ruleId: ruleId(id),
  text: JSON.stringify(ruleOf(members)),
  version: 'v',
  since: 0,
  createdAt: 0,
  updatedAt: 0,
})

test('rule-set/1: the rules of a Thing are found in the order of their ids', (t) => {
  const rules = RuleSet.of([
    stored('e-off', { enabled: false }),
    stored('d', { things: { tag: 'cold' } }),
    stored('c', {}),
    stored('b', { things: { prefix: 'box-' } }),
    stored('a', { things: { ids: ['box-1', 'x'] } }),
    { ...stored('later', {}), text: '{"things":"all","when":{"quux":1}}' },
  ])
  const ids = (id: string, tags: readonly string[] = []): string =>
    rules
      .watching(id, { tags })
      .map((one) => one.ruleId)
      .join('')
  t.deepEqual([ids('box-1'), ids('box-2'), ids('x'), ids('y', ['cold'])], ['abc', 'bc', 'ac', 'cd'])
  t.is(rules.size, 6)
  t.is(rules.with(ruleId('c'), undefined).watching('y', {}).length, 0)
})
