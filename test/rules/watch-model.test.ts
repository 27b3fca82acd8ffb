// Goal: R3 against a model that knows no deadlines, and the rules of a channel by their Things.

import test from 'ava'
import * as fc from 'fast-check'

import type { StoredRule, Watch } from '#domain/rules/stored'
import type { Json } from '#domain/submission'
import { RuleSet, compileText } from '#src/rules/rule-set'
import { onReading, staysQuiet } from '#src/rules/watch'
import { active, facts, play, reading, ruleId, ruleOf, tick } from '#test/support/rules'
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

const quiet = fc.record({
  phase: fc.constantFrom<Watch['phase']>('quiet', 'quiet', 'quiet', 'pending', 'firing'),
  version: fc.constantFrom('v', 'v', 'older'),
  due: fc.constantFrom(undefined, 5, 15),
  sentAt: fc.constantFrom(undefined, undefined, 1),
})

test('rule-watch/2: what stays quiet would have changed nothing', (t) => {
  const RULES = [{}, { when: { silent: '1s' } }, { when: { cel: 'attrs.t > 30' }, for: '3s' }]
  const OUTPUTS = [{}, { event: undefined, message: { title: 'm', at_most_every: '1s' } }]
  let passed = 0
  const holds = (members: object, kept: Watch | undefined, [was, is]: readonly Json[]): void => {
    const rule = active(members)
    const [before, after] = [facts({ t: was ?? null }), facts({ t: is ?? null }, { nowMs: 10 })]
    if (!staysQuiet(rule, kept, after)) return
    passed += 1
    for (const isEvidence of [true, false]) {
      const step = onReading(rule, kept, { at: 9, before, after, isEvidence })
      t.deepEqual([step.watch, step.actions, step.failure], [kept, [], undefined])
    }
  }
  const members = fc.record({
    rule: fc.constantFrom(...RULES),
    output: fc.constantFrom(...OUTPUTS),
  })
  const values = fc.tuple(fc.constantFrom(1, 31, '1', null), fc.constantFrom(1, 31, '1', null))
  fc.assert(
    fc.property(members, fc.option(quiet, { nil: undefined }), values, (one, kept, list) => {
      holds({ ...one.rule, ...one.output }, kept && { ...kept, since: 1 }, list)
    }),
    { numRuns: 1_000 },
  )
  t.true(passed > 0)
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

const SCOPES = ['all', { ids: ['x', 'y'] }, { ids: ['x'] }, { prefix: 'x' }, { tag: 'cold' }]
const WATCHED = { x: [], y: [], z: ['cold'] }

test('rule-set/2: a rule that is put or deleted leaves the others as they are', (t) => {
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    members: fc.record({ things: fc.constantFrom(...SCOPES), enabled: fc.boolean() }),
    isDeleted: fc.boolean(),
  })
  const found = (rules: RuleSet) =>
    Object.entries(WATCHED).map(([id, tags]) =>
      rules.watching(id, { tags }).map(({ ruleId: one, rule }) => [one, rule.identity]),
    )
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      let compilations = 0
      let rules = RuleSet.of([], (text) => {
        compilations += 1
        return compileText(text)
      })
      const kept = new Map<string, StoredRule>()
      for (const { id, members, isDeleted } of changes) {
        const put = stored(id, members)
        const [before, wasFound] = [rules, found(rules)]
        rules = rules.with(put.ruleId, isDeleted ? undefined : rules.compiled(put))
        if (isDeleted) kept.delete(id)
        else kept.set(id, put)
        const atOnce = RuleSet.of([...kept.values()])
        t.deepEqual(found(rules), found(atOnce))
        t.deepEqual([rules.size, rules.bytes], [atOnce.size, atOnce.bytes])
        t.deepEqual(found(before), wasFound)
      }
      t.is(compilations, changes.filter(({ isDeleted }) => !isDeleted).length)
    }),
  )
})
