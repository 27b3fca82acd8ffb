// Goal: each form of a condition holds where the specification says, and fails on values of the
// wrong type without holding, nor its opposite.

import test from 'ava'
import * as fc from 'fast-check'

import { bare } from '#domain/record'
import type { Fields, Json } from '#domain/submission'
import { compiled, facts } from '#test/support/rules'

const recordOf = (values: object): Fields => Object.assign(bare<Json>(), values)

const verdict = (when: object, attrs: object, more = {}): boolean | string =>
  compiled({ when }).when.verdict(facts(recordOf(attrs), more))

const HOT = { attr: 't', above: 30 }
const DRY = { attr: 'h', below: 40 }

// [condition, values, verdict]
const ROWS: readonly (readonly [object, object, boolean | string])[] = [
  [HOT, { t: 30 }, false],
  [HOT, { t: 30.1 }, true],
  [HOT, {}, 't is missing'],
  [HOT, { t: null }, 't is missing'],
  [HOT, { t: '31' }, 't is not a number'],
  [DRY, { h: 39 }, true],
  [DRY, { h: 40 }, false],
  [{ attr: 't', inside: [1, 2] }, { t: 2 }, true],
  [{ attr: 't', inside: [1, 2] }, { t: 2.1 }, false],
  [{ attr: 't', outside: [1, 2] }, { t: 1 }, false],
  [{ attr: 't', outside: [1, 2] }, { t: 0.9 }, true],
  [{ attr: 's', equals: 'open' }, { s: 'open' }, true],
  [{ attr: 's', equals: 1 }, { s: '1' }, false],
  [{ attr: 's', not_equals: 'open' }, { s: 'shut' }, true],
  [{ attr: 's', not_equals: 'open' }, {}, 's is missing'],
  [{ attr: 's', absent: true }, {}, true],
  [{ attr: 's', absent: true }, { s: null }, true],
  [{ attr: 's', absent: true }, { s: 0 }, false],
  [{ attr: ['o', 'on'], equals: true }, { o: { on: true } }, true],
  [{ attr: ['o', 'on'], equals: true }, { o: [true] }, 'o.on is missing'],
  [{ attr: ['o', '__proto__'], absent: true }, { o: {} }, true],
  [{ attr: 'constructor', absent: true }, {}, true],
  [{ all: [HOT, DRY] }, { t: 31, h: 39 }, true],
  [{ all: [HOT, DRY] }, { h: 41 }, false],
  [{ all: [HOT, DRY] }, { h: 39 }, 't is missing'],
  [{ any: [HOT, DRY] }, { h: 39 }, true],
  [{ any: [HOT, DRY] }, { h: 41 }, 't is missing'],
  [{ not: HOT }, { t: 30 }, true],
  [{ not: HOT }, {}, 't is missing'],
  [{ cel: 'attrs.t > 30.0 && attrs.h < 60.0' }, { t: 31, h: 59 }, true],
  [{ cel: 'attrs.t > 30 && attrs.h < 60' }, { t: 30.5, h: 60 }, false],
  [{ cel: 'attrs.t * 2 + 1 == 62' }, { t: 30.5 }, true],
  [{ cel: 'attrs.n % 2 == 0 && 10 / attrs.n > 2' }, { n: 4 }, true],
  [{ cel: 'attrs.t > 30' }, {}, 'No such key: t'],
  [{ cel: 'has(attrs.t)' }, { t: null }, false],
  [{ cel: 'has(attrs.t) && attrs.t > 30' }, {}, false],
  [{ cel: 'has(attrs.h) || attrs.t > 30' }, { t: 31, h: null, x: null }, true],
  [{ cel: 'attrs.h > 30 || attrs.t > 30' }, { t: 30, h: null }, 'No such key: h'],
  [{ cel: '"h" in attrs || size(attrs) > 1' }, { t: 1, h: null }, false],
  [{ cel: 'attrs["h"] > 30' }, { h: null }, 'No such key: h'],
  [{ cel: 'attrs.t' }, { t: 1 }, 'the expression gives neither true nor false'],
  [{ cel: 'thing.id == "a" && thing.title == "A"' }, {}, true],
  [{ cel: 'attrs.l.exists(x, x > 2)' }, { l: [1, 3] }, true],
  [{ cel: 'attrs.l.exists(x, x > 2)' }, { l: Array<number>(2_000).fill(1) }, false],
  [
    { cel: 'attrs.l.exists(x, x > 2)' },
    { l: Array<number>(2_600).fill(1) },
    'the expression takes more than 10000 steps',
  ],
  [
    { any: [{ cel: 'attrs.l.exists(x, x > 2)' }, { attr: 't', above: 1 }] },
    { l: Array<number>(2_600).fill(1), t: 2 },
    true,
  ],
  [{ cel: 'attrs["__proto__"] == 1' }, JSON.parse('{"__proto__":1}') as object, true],
  [{ cel: 'has(attrs.constructor)' }, {}, false],
]

test('conditions/1, R6, expression/1, expression/2: each form of a condition holds where it should', (t) => {
  for (const [when, attrs, given] of ROWS) {
    t.is(
      verdict(when, attrs),
      given,
      `${JSON.stringify(when)} on ${JSON.stringify(attrs).slice(0, 80)}`,
    )
  }
})

test('R4: silence begins with the last accepted update, and is reached at its end', (t) => {
  const when = { silent: '10m' }
  t.false(verdict(when, {}, { heardAt: 5, nowMs: 600_004 }))
  t.true(verdict(when, {}, { heardAt: 5, nowMs: 600_005 }))
})

const value = fc.constantFrom<Json | undefined>(undefined, null, 29, 30, 31, '31', true)

test('conditions/1: a condition never holds together with its opposite', (t) => {
  const leaf = fc.constantFrom<object>(
    HOT,
    DRY,
    { attr: 't', equals: 31 },
    { cel: 'attrs.t > attrs.h' },
  )
  const tree = fc.letrec<{ node: object }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
      tie('node').map((not) => ({ not })),
    ),
  })).node
  fc.assert(
    fc.property(tree, value, value, (when, temperature, humidity) => {
      const attrs = { t: temperature, h: humidity }
      const one = verdict(when, attrs)
      const other = verdict({ not: when }, attrs)
      t.is(typeof one, typeof other)
      if (typeof one === 'boolean') t.is(one, !other)
    }),
    { numRuns: 100 },
  )
})
