// The pure parts of writing rules: the form and its JSON, where a fault stands, which rule watches.

import { readFileSync } from 'node:fs'

import test from 'ava'

import { lineAt, placeOf } from '#console/rules/json-place.ts'
import { BLANK_PART, BLANK_RULE, formFrom, ruleFrom } from '#console/state/rule-form.ts'
import type { RuleForm } from '#console/state/rule-form.ts'
import { placeIn } from '#console/rules/rule-faces.ts'
import { fieldOf } from '#console/rules/rule-paths.ts'
import { typed, typedIn } from '#console/state/text.ts'
import { readRule } from '#src/rules/read-rule'

const DOCUMENT = new URL('../../docs/rules.md', import.meta.url).pathname
const recipes = [...readFileSync(DOCUMENT, 'utf8').matchAll(/```json\n(.*?)```/gs)].map(
  ([, text = '']): unknown => JSON.parse(text),
)

test('the form shows each recipe of the documentation whole', (t) => {
  t.true(recipes.length > 4)
  for (const rule of recipes) {
    // A severity that holds without being said is left out.
    const form = formFrom(rule)
    const said = JSON.parse(JSON.stringify(rule).replace('"severity":"normal",', '')) as unknown
    t.deepEqual(form && ruleFrom(form), said)
  }
})

const event = { title: 'a' }
const ROUND: readonly object[] = [
  { things: { ids: ['a', 'b'] }, when: { attr: 'm', equals: '5' }, event },
  { things: { tag: 'x' }, when: { attr: ['burner', 'on'], not_equals: true }, event },
  { things: 'all', when: { any: [{ attr: 'a', absent: true }, { silent: '5m' }] }, event },
  {
    things: 'all',
    when: { all: [{ cel: 'attrs.a > 1.0' }, { attr: 'b', inside: [1, 2] }] },
    event,
  },
  { things: 'all', when: { not: { attr: 'battery', absent: true } }, event },
  {
    things: 'all',
    when: { silent: '1h' },
    event: {
      ...event,
      remind_every: '10m',
      escalate: [
        { after: '30m', level: 1 },
        { after: '1h', level: 3, severity: 'critical' },
      ],
    },
  },
  { title: 'T', things: 'all', when: { silent: '1h' }, for: '1m', enabled: false, event },
  {
    things: 'all',
    when: { silent: '10m' },
    event: {
      ...event,
      tags: ['cold chain', 'b'],
      metadata: { room: '5', floor: 5, isIn: true },
      levels: [
        { when: { silent: '1h' }, severity: 'high' },
        { when: { attr: 'a', outside: [1, 2] }, severity: 'critical' },
      ],
    },
  },
  {
    things: 'all',
    when: { silent: '1h' },
    message: { title: 'a', tags: ['b'], metadata: { c: 1 } },
  },
]
/** What a form would lose, or change. */
const BEYOND: readonly unknown[] = [
  'all',
  null,
  [],
  {},
  { things: 'all', when: { not: { silent: '1h' } }, event },
  { things: 'all', when: { all: [{ silent: '1h' }] }, event },
  { things: 'all', when: { all: [{ any: [{ silent: '1h' }] }, { silent: '2h' }] }, event },
  { things: 'all', when: { attr: 'a', above: 1, below: 2 }, event },
  { things: { ids: ['a'], tag: 'b' }, when: { silent: '1h' }, event },
  { things: 'all', when: { silent: '1h' }, event: { title: 'a', tags: ['b,c'] } },
  { things: 'all', when: { silent: '1h' }, event: { title: 'a', tags: [] } },
  { things: 'all', when: { silent: '1h' }, event: { title: 'a', metadata: { ' a': 1 } } },
  {
    things: 'all',
    when: { silent: '1h' },
    event: { title: 'a', levels: [{ when: { not: { silent: '1h' } }, severity: 'high' }] },
  },
  { things: 'all', when: { silent: '1h' }, event, message: event },
  { things: 'all', when: { silent: 5 }, event },
  { things: 'all', when: { silent: '1h' }, event, enabled: 'no' },
  { things: 'all', when: { silent: '1h' }, event: { title: ' a ' } },
]

test('a form gives back the rule that it was made of, or none', (t) => {
  for (const rule of ROUND) {
    const form = formFrom(rule)
    t.deepEqual(form && ruleFrom(form), rule)
    t.is(readRule(rule).kind, 'rule', JSON.stringify(rule))
  }
  for (const rule of BEYOND) t.is(formFrom(rule), undefined, JSON.stringify(rule))
})

test('a blank field of a name names no attr, and an attr whose name is empty is written as a list', (t) => {
  const form = { ...BLANK_RULE, heading: 'a', when: [{ ...BLANK_PART, value: '1' }] }
  const blank = ruleFrom(form)
  t.deepEqual(blank['when'], { attr: null, above: 1 })
  t.deepEqual(formFrom(blank), form)
  t.is(readRule(blank).kind, 'wrong')
  const empty = ruleFrom({ ...form, when: [{ ...BLANK_PART, attr: '[""]', value: '1' }] })
  t.is(readRule(empty).kind, 'rule')
  t.is(formFrom({ ...blank, when: { attr: '', above: 1 } }), undefined)
})

test('what holds without being said may be said', (t) => {
  const rule = { things: 'all', when: { silent: '1h' }, enabled: true }
  t.truthy(formFrom({ ...rule, event: { title: 'a', severity: 'normal' } }))
})

test('a value keeps its type through its text', (t) => {
  for (const value of ['a', '5', 'true', '', 5, true, '"a"', '{}']) {
    t.is(typedIn(typed(value)), value)
  }
})

const FAULTS: readonly (readonly [change: Partial<RuleForm>, field: string])[] = [
  [{}, 'rule.when.attr'],
  [{ title: 'x'.repeat(300) }, 'rule.title'],
  [{ scope: 'prefix', things: 'ä' }, 'rule.things'],
  [{ when: [{ ...BLANK_PART, attr: 'a' }] }, 'rule.when.above'],
  [{ when: [{ ...BLANK_PART, test: 'silent', value: 'soon' }] }, 'rule.when.silent'],
  [{ when: [{ ...BLANK_PART, test: 'cel', value: '((' }] }, 'rule.when.cel'],
  [{ when: [{ test: 'inside', attr: 'a', value: '1', limit: 'b' }] }, 'rule.when.inside[1]'],
  [{ for: 'long' }, 'rule.for'],
  [{ clearFor: 'long' }, 'rule.clear_for'],
  [{ clear: [BLANK_PART] }, 'rule.clear.attr'],
  [{ heading: '' }, 'rule.event.title'],
  [{ levels: [{ part: BLANK_PART, severity: 'high' }] }, 'rule.event.levels[0].when.attr'],
  [{ when: [{ ...BLANK_PART, test: 'has' }] }, 'rule.when.not.attr'],
  [{ remindEvery: '30s' }, 'rule.event.remind_every'],
  [{ escalate: [{ after: 'x', level: '1', severity: '' }] }, 'rule.event.escalate'],
  [{ tags: 'x'.repeat(200) }, 'rule.event.tags'],
  [{ metadata: [{ name: 'a', value: '[1]' }] }, 'rule.event.metadata'],
  [{ output: 'message', every: '1 day' }, 'rule.message.at_most_every'],
]

test('a fault stands at the field that its path leads to', (t) => {
  const good = [{ ...BLANK_PART, attr: 'a', value: '1' }]
  for (const [change, field] of FAULTS) {
    const when = field.startsWith('rule.when') ? BLANK_RULE.when : good
    const form = { ...BLANK_RULE, heading: 'a', when, ...change }
    const read = readRule(ruleFrom(form))
    t.is(read.kind === 'wrong' ? fieldOf(form, read.path) : '', field)
  }
  const two = { ...BLANK_RULE, join: 'any' as const, when: [...good, BLANK_PART] }
  t.is(fieldOf(two, 'rule.when.any[1].above'), 'rule.when.any[1].above')
  t.is(fieldOf(two, 'rule.elsewhere'), undefined)
})

const TEXT = `{
  "things": {"ids": ["a", "b, {"]},
  "when": {"all": [
    {"attr": "a", "above": 1},
    {"attr": "b\\"", "above": "x"}
  ]}
}`
const PLACES: readonly (readonly [path: string, line: number, begins: string])[] = [
  ['rule', 1, '{'],
  ['rule.things.ids[1]', 2, '"b, {"'],
  ['rule.when.all[1].above', 5, '"x"'],
  ['rule.when.all[0].below', 4, '{"attr": "a"'],
  ['rule.event', 1, '{'],
]

test('a path leads to its place in the text, and a missing member to what should have it', (t) => {
  for (const [path, line, begins] of PLACES) {
    const at = placeOf(TEXT, 'rule', path)
    t.is(lineAt(TEXT, at), line, path)
    t.true(TEXT.startsWith(begins, at), path)
  }
  t.is(placeOf('}}]],,::', 'rule', 'rule.when'), 0)
})

const PRESENTATION = [
  { things: {}, attrs: { battery: { unit: 'V' } } },
  { things: { prefix: 'freezer-' }, attrs: { temperature: { unit: 'K' } } },
]
const EXAMPLES: readonly (readonly [attr: string, things: string, place: string])[] = [
  ['', 'freezer-', '{thing.title}'],
  ['temperature', 'freezer-', '{thing.title}: {temperature} K'],
  ['temperature', 'boiler-', '{thing.title}: {temperature} °C'],
  ['battery', 'boiler-', '{thing.title}: {battery} V'],
  ['count', 'boiler-', '{thing.title}: {count}'],
]

test('the example of a text has the unit of the value, as the Things of the rule show it', (t) => {
  for (const [attr, things, place] of EXAMPLES) {
    const when = [{ ...BLANK_PART, attr }]
    const form: RuleForm = { ...BLANK_RULE, scope: 'prefix', things, when }
    t.is(placeIn(form, PRESENTATION, 'en'), place)
  }
})
