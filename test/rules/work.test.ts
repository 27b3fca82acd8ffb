// Goal: whatever a rule says and a reading holds, what is computed is bounded, and a replay computes
// the same.
// Method: count steps, and the reads and characters that they stand for; never time.

import test from 'ava'
import * as fc from 'fast-check'

import type { Json } from '#domain/submission'
import { EXPRESSION_STEPS_MAX, OUT_OF_STEPS, READING_STEPS_MAX, Work } from '#src/rules/work'
import {
  THING,
  attrsOf,
  evaluated,
  expressionOf,
  expressions,
  hostileAttrs,
} from '#test/support/cel'
import { countingTexts, watched } from '#test/support/counted-work'
import { compiled, facts } from '#test/support/rules'

const TOO_MANY = `the expression takes more than ${EXPRESSION_STEPS_MAX} steps`

test('work/1: steps are given up to the bound, and none beyond it', (t) => {
  const work = new Work(10)
  t.true(work.take(10))
  t.false(work.isSpent)
  t.false(work.take(1))
  t.true(work.isSpent)
  t.false(work.take(0))
  t.is(work.taken, 11)
})

test('work/1: a part has a bound of its own, within what is left', (t) => {
  const work = new Work(10)
  t.is(
    work.within(4, () => work.take(4)),
    true,
  )
  t.is(
    work.within(4, () => void work.take(5)),
    undefined,
  )
  t.false(work.isSpent)
  t.true(work.take(1))
  t.is(
    work.within(4, () => work.take(1)),
    undefined,
  )
  t.true(work.isSpent)
})

const repeat = (length: number, text = 'a'): string => text.repeat(length)

// [expression, attrs, verdict]: a text of 60,000 characters is within the bound, and what needs the
// product of two of them, or doubles it again and again, is not.
const ATTACKS: readonly (readonly [cel: string, attrs: object, verdict: boolean | string])[] = [
  ['attrs.a.contains("b")', { a: repeat(60_000) }, false],
  ['attrs.a.contains(attrs.b)', { a: repeat(30_000), b: `${repeat(29_000)}b` }, false],
  ['attrs.a.contains(attrs.b)', { a: repeat(50_000), b: `${repeat(49_000)}b` }, TOO_MANY],
  [
    '[attrs.a + attrs.a + attrs.a].exists(x, (x + x + x + x).contains(attrs.b + attrs.b))',
    { a: repeat(30_000), b: `${repeat(15_000)}b${repeat(15_000)}` },
    TOO_MANY,
  ],
  [`[${repeat(20, 'attrs.a + ')}attrs.a].exists(x, x == "")`, { a: repeat(60_000) }, TOO_MANY],
  [
    'attrs.l.exists(x, x.contains(attrs.a))',
    { l: Array(999).fill('a'), a: repeat(9_000) },
    TOO_MANY,
  ],
  ['attrs.l.exists(x, x == 2)', { l: Array(1_900).fill(1) }, false],
  ['attrs.l.exists(x, x == 2)', { l: Array(2_100).fill(1) }, TOO_MANY],
  ['attrs.l.exists(x, x in attrs.l)', { l: Array.from({ length: 300 }, (_, at) => [at]) }, true],
  ['attrs.l.all(x, x in attrs.l)', { l: Array.from({ length: 300 }, (_, at) => [at]) }, TOO_MANY],
  [
    'attrs.l.all(x, attrs.l == attrs.k)',
    { l: Array(300).fill(1), k: Array(300).fill(1) },
    TOO_MANY,
  ],
  ['attrs.l.map(x, attrs.l + attrs.l).size() > 0', { l: Array(300).fill(1) }, TOO_MANY],
  [
    'size(attrs.o) > 0',
    {
      o: Object.fromEntries(
        Array(9_000)
          .fill(0)
          .map((_, at) => [at, 1]),
      ),
    },
    true,
  ],
  [
    'size(attrs.o) + size(attrs.o) > 0',
    {
      o: Object.fromEntries(
        Array(9_000)
          .fill(0)
          .map((_, at) => [at, 1]),
      ),
    },
    TOO_MANY,
  ],
  [
    'attrs.size() > 0 || true',
    Object.fromEntries(
      Array(10_001)
        .fill(0)
        .map((_, at) => [`n${at}`, 1]),
    ),
    TOO_MANY,
  ],
  ['attrs.a.lowerAscii() == "" || attrs.a.size() > 0', { a: repeat(60_000, 'é') }, TOO_MANY],
  ['attrs.a == attrs.b && attrs.a <= attrs.b', { a: repeat(60_000), b: repeat(60_000) }, TOO_MANY],
  ['double(attrs.a) > 0.0 || attrs.a.trim() == "" || true', { a: repeat(60_000, ' 1') }, TOO_MANY],
]

test('expression/1, values/1: an expression is given up where its values need too much', (t) => {
  for (const [cel, values, wanted] of ATTACKS) {
    const attrs = attrsOf(values)
    const { verdict, steps } = evaluated(cel, attrs)
    t.is(verdict, wanted, cel)
    t.deepEqual(evaluated(cel, attrs), { verdict, steps }, `${cel} again`)
  }
})

/** Reads and characters that one step stands for at most. */
const REAL_OF_STEP = 48
/** Names of the largest object: they are counted once they are read. (work/2) */
const NAMES_MAX = 6_000

test('work/2, evaluation/1: a random expression over hard values does no more than its steps', (t) => {
  let spent = 0
  fc.assert(
    fc.property(expressions, hostileAttrs, (text, values) => {
      const expression = expressionOf(text)
      if (expression === undefined) return
      const counter = { count: 0 }
      const attrs = watched<Readonly<Record<string, Json>>>(values, counter)
      const work = new Work(READING_STEPS_MAX)
      const verdict = countingTexts(counter, () =>
        expression.evaluate({ attrs, thing: THING, work }),
      )
      const steps = Math.min(work.taken, EXPRESSION_STEPS_MAX)
      t.true(
        counter.count <= REAL_OF_STEP * steps + NAMES_MAX,
        `${text}: ${counter.count} ${steps}`,
      )
      t.is(verdict === TOO_MANY, work.taken > EXPRESSION_STEPS_MAX, text)
      if (verdict === TOO_MANY) spent += 1
    }),
    { numRuns: 300 },
  )
  t.true(spent > 5, String(spent))
})

test('values/1: a text is found in another one in a few looks at each character', (t) => {
  const looksOf = (text: string, wanted: string): number => {
    const counter = { count: 0 }
    const attrs = attrsOf({ text, wanted })
    const { verdict } = countingTexts(counter, () =>
      evaluated('attrs.text.contains(attrs.wanted)', attrs),
    )
    t.is(verdict, text.includes(wanted), `${text.slice(0, 30)} ${wanted.slice(0, 30)}`)
    return counter.count
  }
  for (const half of ['', 'b', 'ab']) {
    const [text, wanted] = [`a${half}`.repeat(9_000), `${`a${half}`.repeat(4_000)}c`]
    const looks = looksOf(text, wanted)
    t.true(looks <= 6 * (text.length + wanted.length), String(looks))
  }
  const few = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 })
  fc.assert(
    fc.property(few, few, few, few, (a, b, c, wanted) => {
      looksOf(a + b + c, b)
      looksOf(a + b + c + a, wanted)
    }),
  )
})

test('evaluation/1: a macro stops at the item for which no steps are left', (t) => {
  for (const cel of ['attrs.l.exists(x, x == 2)', 'attrs.l.map(x, x == 2) == []']) {
    const counter = { count: 0 }
    const attrs = watched<Readonly<Record<string, Json>>>(
      { l: Array<number>(30_000).fill(1) },
      counter,
    )
    t.is(evaluated(cel, attrs).verdict, TOO_MANY)
    t.true(counter.count < EXPRESSION_STEPS_MAX, String(counter.count))
  }
})

test('work/1: conditions of every form count, and fail once nothing is left', (t) => {
  const forms: readonly object[] = [
    { attr: 't', above: 1 },
    { attr: 't', equals: 2 },
    { attr: 'u', absent: true },
    { silent: '1s' },
    { cel: 'attrs.t > 1' },
  ]
  for (const when of forms) {
    const work = new Work(20)
    const { verdict } = compiled({ when }).when
    const given = facts(attrsOf({ t: 2 }), { nowMs: 9_000, work })
    t.is(verdict(given), true, JSON.stringify(when))
    t.true(work.taken > 0)
    work.take(20)
    t.is(verdict(given), OUT_OF_STEPS, JSON.stringify(when))
  }
})

test('work/1: lists and objects in texts count, and are left out once nothing is left', (t) => {
  const { output } = compiled({ event: { title: '{t} {l}', description: '{l}{l}{l}{l}' } })
  const work = new Work(5_000)
  const attrs = attrsOf({ t: 1, l: Array<number>(20_000).fill(1) })
  const write = (name: string): string | undefined =>
    output.texts[name]?.({ ...facts(attrs, { work }), ruleId: 'r', since: 0 })
  t.regex(write('title') ?? '', /^1 \[1,1,/)
  t.is(work.taken, 5_001)
  t.is(write('description'), '????')
  t.is(write('title'), '1 ?')
  t.is(work.taken, 5_001)
})
