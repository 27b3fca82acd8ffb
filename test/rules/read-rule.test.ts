// Goal: a rule is read as the specification writes it, and a bad one is refused with the path of
// the member and what it must be.

import test from 'ava'

import type { Fields } from '#domain/submission'
import { durationMs } from '#src/rules/durations'
import { compiled, facts, faultOf, ruleOf } from '#test/support/rules'

const EXAMPLE = {
  title: 'Freezer too warm',
  things: { prefix: 'freezer-' },
  when: { attr: 'temperature', above: -15 },
  for: '5m',
  clear: { attr: 'temperature', below: -18 },
  clear_for: '1m',
  event: {
    title: '{thing.title}: {temperature} °C',
    severity: 'high',
    tags: ['cold-chain'],
    update_every: '10m',
  },
  enabled: true,
}

test('the example of the specification is read whole', (t) => {
  const { output, ...rule } = compiled(EXAMPLE)
  t.like(rule, {
    title: 'Freezer too warm',
    scope: { kind: 'prefix', prefix: 'freezer-' },
    forMs: 300_000,
    clearForMs: 60_000,
    isEnabled: true,
  })
  t.like(output, { kind: 'event', severity: 'high', updateEveryMs: 600_000 })
  t.deepEqual(output.fields, Object.assign(Object.create(null), { tags: ['cold-chain'] }))
})

test('what the Event says about its reminders is kept as it is', (t) => {
  const said = { remind_every: '10m', escalate: [{ after: '30m', level: 2, severity: 'critical' }] }
  const { output } = compiled({ event: { title: 'x', ...said } })
  t.deepEqual(output.fields, Object.assign(Object.create(null), said))
})

const HOT = { attr: 't', above: 1 }
const deep = (levels: number): object => (levels === 0 ? HOT : { not: deep(levels - 1) })

// [what the rule has, the sentence]
const FAULTS: readonly (readonly [object, string])[] = [
  [{ when: { all: [HOT, { attr: 't', above: 'x' }] } }, 'rule.when.all[1].above: must be a number'],
  [{ when: { attr: 't', above: Infinity } }, 'rule.when.above: must be a number'],
  [{ when: undefined }, 'rule.when: must be an object with attr, silent, all, any, not or cel'],
  [{ when: {} }, 'rule.when: must have attr, silent, all, any, not or cel'],
  [{ when: { attr: 't', abov: 1 } }, 'rule.when.abov: is not known'],
  [{ when: { ...HOT, below: 2 } }, 'rule.when: must have exactly one of above, below'],
  [{ when: { attr: 't' } }, 'rule.when: must have exactly one of above, below'],
  [{ when: { attr: 1, above: 1 } }, 'rule.when.attr: must be a name of at most 256 characters'],
  [{ when: { attr: [], above: 1 } }, 'rule.when.attr: must be a list of 1 to 8'],
  [{ when: { attr: 't', absent: false } }, 'rule.when.absent: must be true'],
  [{ when: { attr: 't', inside: [2, 1] } }, 'rule.when.inside: must be [low, high] with low not'],
  [{ when: { attr: 't', equals: {} } }, 'rule.when.equals: must be a text, a number, true or'],
  [{ when: { any: [] } }, 'rule.when.any: must be a list of 1 to 32'],
  [{ when: { silent: '0m' } }, 'rule.when.silent: must be a whole number of s, m, h or d'],
  [{ when: { silent: '31d' } }, 'rule.when.silent: must be a whole number of s, m, h or d'],
  [{ when: { silent: null } }, 'rule.when.silent: must be a duration'],
  [{ when: deep(9) }, `rule.when${'.not'.repeat(9)}: must not be nested deeper than 8`],
  [{ when: { cel: 'attrs.t >' } }, 'rule.when.cel: is no expression: '],
  [{ when: { cel: 'load > 1' } }, 'rule.when.cel: is no expression: Unknown variable: load'],
  [{ when: { cel: '1 + 1' } }, 'rule.when.cel: must be true or false, not int'],
  [{ when: { cel: 'attrs.t.matches("(a+)+")' } }, 'rule.when.cel: has no function matches'],
  [
    { when: { cel: 'attrs.l.exists(x, attrs.l.exists(y, x > y))' } },
    'rule.when.cel: must not have a macro within a macro',
  ],
  [{ when: { cel: 'attrs.a.split(",").size() > 1' } }, 'rule.when.cel: has no function split'],
  [{ when: { cel: 'cel.bind(x, 1, x > 0)' } }, 'rule.when.cel: has no function bind'],
  [{ when: { cel: 'attrs.t == b"a"' } }, 'rule.when.cel: has no bytes'],
  [{ when: { cel: 'dyn(int) == attrs.t' } }, 'rule.when.cel: has no value int'],
  [
    { when: { cel: 'attrs.l in [[1], [2]]' } },
    'rule.when.cel: must not have a list or a map written within another one',
  ],
  [{ when: { cel: `true${' && true'.repeat(150)}` } }, 'rule.when.cel: must be a text of 1 to'],
  [{ when: { cel: `true${'&&true'.repeat(150)}` } }, 'rule.when.cel: is no expression: '],
  [{ event: { title: 'x', remind_every: '30s' } }, 'rule.event.remind_every: must be a duration'],
  [{ event: { title: 'x', escalate: [{}] } }, 'rule.event.escalate: must be up to 5 steps'],
  [{ things: 'some' }, 'rule.things: must be "all" or an object'],
  [{ things: { ids: ['a'], tag: 'b' } }, 'rule.things: must have exactly one of ids, prefix, tag'],
  [{ things: { ids: ['a b'] } }, 'rule.things.ids[0]: must be 1 to 64 letters'],
  [{ things: { prefix: 'ä' } }, 'rule.things.prefix: must be 1 to 64 letters'],
  [{ for: '1.5m' }, 'rule.for: must be a whole number of s, m, h or d'],
  [{ for: 60 }, 'rule.for: must be a whole number of s, m, h or d'],
  [{ event: undefined }, 'rule: must have either event or message'],
  [{ message: { title: 'x' } }, 'rule: must have either event or message'],
  [{ event: { title: ' ' } }, 'rule.event.title: must be a text of 1 to 256 characters'],
  [{ event: { title: 'x', severity: 'loud' } }, 'rule.event.severity: must be one of critical'],
  [
    { event: { title: 'x', levels: [{ when: { ...HOT, above: '' }, severity: 'low' }] } },
    'rule.event.levels[0].when.above: must be a number',
  ],
  [{ event: { title: 'x', metadata: { a: [] } } }, 'rule.event.metadata.a: must be a text, a'],
  [{ enabled: 'yes' }, 'rule.enabled: must be true or false'],
  [{ fore: '1m' }, 'rule.fore: is not known; known are title, things, when'],
  [{ title: 'x'.repeat(257) }, 'rule.title: must be a text of 1 to 256 characters'],
  [
    {
      when: {
        any: Array.from({ length: 32 }, () => ({ attr: 'n'.repeat(256), equals: 'v'.repeat(300) })),
      },
    },
    'rule: must be at most 16384 bytes of JSON',
  ],
]

test('the first fault of a rule is worded with its path', (t) => {
  for (const [members, sentence] of FAULTS) {
    const given = faultOf(ruleOf(members))
    t.true(given.startsWith(sentence), `${given} in place of ${sentence}`)
  }
  for (const sent of [null, 'x', [], 1]) t.is(faultOf(sent), 'rule: must be an object')
})

test('a duration is a whole number and a unit, from 1s to 30d', (t) => {
  const rows: readonly (readonly [unknown, number | undefined])[] = [
    ['1s', 1_000],
    ['90m', 5_400_000],
    ['30d', 2_592_000_000],
    ['720h', 2_592_000_000],
    ['31d', undefined],
    ['721h', undefined],
    ['0s', undefined],
    ['01s', undefined],
    ['1w', undefined],
    ['1', undefined],
    [' 1s', undefined],
    [1, undefined],
  ]
  for (const [sent, ms] of rows) t.is(durationMs(sent), ms, String(sent))
})

test('a rule keeps its identity as long as its Things and its condition are the same', (t) => {
  const { identity } = compiled({ when: { attr: 't', above: 1 } })
  t.is(compiled({ when: { above: 1, attr: 't' }, for: '1m', title: 'other' }).identity, identity)
  t.not(compiled({ when: { attr: 't', above: 2 } }).identity, identity)
  t.not(compiled({ when: { attr: 't', above: 1 }, things: { tag: 'x' } }).identity, identity)
})

test('a text names values of the Thing, and shows those that are missing', (t) => {
  const { output } = compiled({
    event: { title: '{thing.id} {thing.title} {rule.id} {since} {t} {o.on} {a.b} {gone} {no' },
  })
  const attrs = { t: 30.5, o: { on: true }, 'a.b': 'x', gone: null }
  const since = 1_767_225_600_500
  const given = output.texts['title']?.({ ...facts(attrs), ruleId: 'r', since })
  t.is(given, 'a A r 2026-01-01T00:00:00Z 30.5 true x ? {no')
})

const titleOf = (title: string, attrs: Fields): string | undefined =>
  compiled({ event: { title } }).output.texts['title']?.({ ...facts(attrs), ruleId: 'r', since: 0 })

test('a text names what a Thing has, and nothing that every object has', (t) => {
  const attrs = { o: { on: true }, l: [1], text: 'x' }
  const title = '{constructor} {o.toString} {o.constructor.name} {l.length} {text.length} {o.on}'
  t.is(titleOf(title, attrs), '? ? ? ? ? true')
  t.is(titleOf('{o.__proto__.a}', { o: { ['__proto__']: { a: 1 } } }), '1')
})

test('a value that shows nothing is written as a missing one, so that no title is blank', (t) => {
  t.is(titleOf('{empty}', { empty: '' }), '?')
  t.is(titleOf('{blank}: {t}', { blank: ' \n', t: 0 }), '?: 0')
})

test('a text that is too long is cut between its characters', (t) => {
  const emoji = '😀'.repeat(128)
  t.is(titleOf('{long}', { long: emoji }), emoji)
  t.is(titleOf('{long}', { long: `${emoji}a` }), `${'😀'.repeat(127)}…`)
  t.is(titleOf('{long}'.repeat(9), { long: emoji }), `${'😀'.repeat(1_023)}…`)
})
