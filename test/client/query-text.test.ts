// Goal: the text of a query asks for what its reader expects, and a mistake says where it is.
// Method: tables of texts, each with its `where`, its mistake or its completions.

import test from 'ava'

import { completionsAt } from '#src/client/query/completions'
import { readQuery } from '#src/client/query/text'
import type { Where } from '#domain/rules/condition'

const READ: readonly (readonly [text: string, where: Where | undefined])[] = [
  ['', undefined],
  ['  \n', undefined],
  ['temperature > 80', { attr: 'temperature', above: 80 }],
  ['temperature<-5.5', { attr: 'temperature', below: -5.5 }],
  ['t >= 1e3', { not: { attr: 't', below: 1_000 } }],
  ['t<=.5', { not: { attr: 't', above: 0.5 } }],
  ['t = 10..20', { attr: 't', inside: [10, 20] }],
  ['t != -1..1', { attr: 't', outside: [-1, 1] }],
  ['mode = eco', { attr: 'mode', equals: 'eco' }],
  ['mode == "in use"', { attr: 'mode', equals: 'in use' }],
  ['mode = "5"', { attr: 'mode', equals: '5' }],
  ['on != true', { attr: 'on', not_equals: true }],
  ['burner.on = false', { attr: ['burner', 'on'], equals: false }],
  ['"a.b" > 1', { attr: 'a.b', above: 1 }],
  ['inlet-temp > 1', { attr: 'inlet-temp', above: 1 }],
  ['"say \\"hi\\"" = x', { attr: 'say "hi"', equals: 'x' }],
  ['Größe = 1', { attr: 'Größe', equals: 1 }],
  ['state:ACTIVE', { state: 'active' }],
  ['State:active,archived', { any: [{ state: 'active' }, { state: 'archived' }] }],
  ['tag:"cold chain",pump', { any: [{ tag: 'cold chain' }, { tag: 'pump' }] }],
  ['prefix:boiler-', { prefix: 'boiler-' }],
  ['silent:10m', { silent: '10m' }],
  ['has:burner.on', { not: { attr: ['burner', 'on'], absent: true } }],
  ['missing:"a.b"', { attr: 'a.b', absent: true }],
  ['"" = 1', { attr: '', equals: 1 }],
  ['has:""', { not: { attr: '', absent: true } }],
  ['missing:" ","",t', { any: [' ', '', 't'].map((attr) => ({ attr, absent: true })) }],
  ['near:48.2,-16.4,5km', { near: [48.2, -16.4], within: 5_000 }],
  ['near:48.2,16.4,500m', { near: [48.2, 16.4], within: 500 }],
  ['near:48.2,16.4,500', { near: [48.2, 16.4], within: 500 }],
  ['cel:"attrs.t > 30.0"', { cel: 'attrs.t > 30.0' }],
  ['cellar', { text: 'cellar' }],
  ['"free text" wow!', { all: [{ text: 'free text' }, { text: 'wow!' }] }],
  ['text:or', { text: 'or' }],
  ['"or"', { text: 'or' }],
  ['-tag:pump', { not: { tag: 'pump' } }],
  ['not not a', { not: { not: { text: 'a' } } }],
  ['a or b c', { any: [{ text: 'a' }, { all: [{ text: 'b' }, { text: 'c' }] }] }],
  ['(a OR b) and c', { all: [{ any: [{ text: 'a' }, { text: 'b' }] }, { text: 'c' }] }],
  ['-( a )', { not: { text: 'a' } }],
  [
    'temperature > 80 state:active tag:pump prefix:boiler- "free text" silent:10m',
    {
      all: [
        { attr: 'temperature', above: 80 },
        { state: 'active' },
        { tag: 'pump' },
        { prefix: 'boiler-' },
        { text: 'free text' },
        { silent: '10m' },
      ],
    },
  ],
]

test('a text is read as what it asks for', (t) => {
  for (const [text, where] of READ) {
    const wanted = { kind: 'query', ...(where !== undefined && { where }) }
    t.deepEqual(readQuery(text) as object, wanted, text)
  }
})

const MISTAKES: readonly (readonly [text: string, code: string, at: number, end: number])[] = [
  ['"open', 'quote_open', 0, 5],
  ['a "open', 'quote_open', 2, 7],
  ['x (a', 'parenthesis_open', 2, 3],
  ['a)', 'parenthesis_close', 1, 2],
  ['()', 'term_missing', 1, 2],
  ['a or', 'term_missing', 4, 4],
  ['or a', 'term_missing', 0, 1],
  ['a and and b', 'term_missing', 6, 7],
  ['not', 'term_missing', 3, 3],
  ['> 3', 'name_missing', 0, 1],
  ['a..b > 1', 'name_missing', 0, 4],
  ['t >', 'value_missing', 3, 3],
  ['t > (', 'value_missing', 4, 5],
  ['tag:', 'value_missing', 4, 4],
  ['tag: pump', 'value_missing', 4, 5],
  ['tag:a,', 'value_missing', 6, 6],
  ['tag:" "', 'value_missing', 7, 7],
  ['has:', 'value_missing', 4, 4],
  ['has:t,', 'value_missing', 6, 6],
  ['colour:red', 'keyword_unknown', 0, 6],
  ['t > hot', 'not_a_number', 4, 7],
  ['t > "5"', 'not_a_number', 4, 7],
  ['t < 1..2', 'not_a_number', 4, 8],
  ['t > 1e999', 'not_a_number', 4, 9],
  ['t = -1e999', 'not_a_number', 4, 10],
  ['t = 1..1e999', 'not_a_range', 4, 12],
  ['t = 20..10', 'not_a_range', 4, 10],
  ['t = 1..', 'not_a_range', 4, 7],
  ['state:gone', 'not_a_state', 6, 10],
  ['silent:10', 'not_a_duration', 7, 9],
  ['near:48,16', 'not_a_place', 5, 10],
  ['near:a,b,5', 'not_a_place', 5, 10],
  [`${'('.repeat(9)}a`, 'too_deep', 9, 10],
]

test('a mistake has a code, a sentence, and the characters that it lies between', (t) => {
  for (const [text, code, at, end] of MISTAKES) {
    const read = readQuery(text)
    t.like(read, { kind: 'mistake', code, at, end }, text)
    t.true(read.kind === 'mistake' && read.message.length > 5, text)
  }
  t.is(readQuery(`${'('.repeat(8)}a${')'.repeat(8)}`).kind, 'query')
})

const KNOWN = {
  attrs: ['temperature', 'mode', 'a.b', 'two words', 'p,q'],
  tags: ['pump', 'cold chain'],
  values: (attr: string) => (attr === 'mode' ? ['eco', '5', 7] : []),
}

/** The caret stands at `|`; `wanted` are the first insertions. */
const COMPLETED: readonly (readonly [text: string, from: number, wanted: readonly string[]])[] = [
  ['tem|', 0, ['temperature ']],
  ['a|', 0, ['a.b'].map(() => '"a.b" ')],
  ['two|', 0, ['"two words" ']],
  ['"two|', 0, ['"two words" ']],
  ['x sta|', 2, ['state:']],
  ['-ta|', 1, ['tag:']],
  ['state:a|', 6, ['active ', 'archived ']],
  ['tag:|', 4, ['pump ', '"cold chain" ']],
  ['tag:pump,co|', 9, ['"cold chain" ']],
  ['tag:"co|', 4, ['"cold chain" ']],
  ['temperature |', 12, ['>= ', '<= ', '!= ', '> ', '< ', '= ']],
  ['mode = |', 7, ['eco ', '"5" ', '7 ', 'true ', 'false ']],
  ['mode=e|', 5, ['eco ']],
  ['mode > |', 7, ['7 ']],
  ['silent:1|', 7, ['1m ', '10m ', '1h ', '1d ']],
  ['has:mo|', 4, ['mode ']],
  ['p,|', 0, ['p,q ']],
  ['has:p|', 4, ['"p,q" ']],
  ['pump | state:active', 5, ['temperature ', 'mode ']],
]

test('completions are what may stand at the caret', (t) => {
  for (const [marked, from, wanted] of COMPLETED) {
    const caret = marked.indexOf('|')
    const completed = completionsAt(marked.replace('|', ''), caret, KNOWN)
    t.is(completed.from, from, marked)
    const inserts = completed.items.map(({ insert }) => insert)
    t.deepEqual(inserts.slice(0, wanted.length), wanted, marked)
  }
})

test('completions are few, whatever is known', (t) => {
  const attrs = Array.from({ length: 1_000 }, (_, index) => `attr-${index}`)
  t.is(completionsAt('', 0, { attrs }).items.length, 50)
  t.deepEqual(completionsAt('zzz', 3, { attrs }).items, [])
})
