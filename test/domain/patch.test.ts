import * as fc from 'fast-check'
import test from 'ava'

import { ATTRS_BYTES_MAX, EXTERNAL_IDS_BYTES_MAX, FIELDS_BYTES_MAX } from '#domain/entity'
import { bare } from '#domain/record'
import { EMPTY_BODY, merge, valuesOf } from '#domain/patch'
import type { Body, Merged } from '#domain/patch'
import type { Json, Patch } from '#domain/submission'
import { fieldsOf, record, timedOf } from '#test/support/submissions'

const NONE = bare<Json>()
const attrsAt = (at: number, values: Record<string, Json>): Patch => ({
  at,
  fields: NONE,
  attrs: fieldsOf(values),
})

function merged(outcome: Merged): Extract<Merged, { kind: 'merged' }> {
  if (outcome.kind === 'refused') throw new Error(`refused: ${outcome.code}`)
  return outcome
}

/** The body after patches, one after the other. */
const bodyAfter = (...patches: readonly Patch[]): Body =>
  patches.reduce((body, patch) => merged(merge(body, patch)).body, EMPTY_BODY)

const plain = (values: object | undefined): unknown =>
  values === undefined ? undefined : Object.fromEntries(Object.entries(values))

// Method: what a key holds (a time and a value), what a patch says, what it holds then, what is
// delivered, and whether a reader could tell the difference.
type Row = readonly [
  before: readonly [value: Json, at: number] | undefined,
  patch: readonly [value: Json, at: number],
  after: Json | undefined,
  delivered: Json | undefined,
  visible: boolean,
]
const rows: Readonly<Record<string, Row>> = {
  'entity/1: a newer value replaces': [['old', 5], ['new', 6], 'new', 'new', true],
  'entity/1: a value of the same time replaces, since it arrived later': [
    ['old', 5],
    ['new', 5],
    'new',
    'new',
    true,
  ],
  'entity/1: an older value is left aside': [['old', 5], ['new', 4], 'old', undefined, false],
  'entity/1: an older value fills what is missing': [undefined, ['new', 1], 'new', 'new', true],
  'an equal value is delivered again but shows no difference': [
    ['same', 5],
    ['same', 6],
    'same',
    'same',
    false,
  ],
  'an equal list shows no difference': [[[1, 2], 5], [[1, 2], 6], [1, 2], [1, 2], false],
  'a list in another order shows a difference': [[[1, 2], 5], [[2, 1], 5], [2, 1], [2, 1], true],
  'an object whose members come in another order shows no difference': [
    [{ x: [{ y: 1, z: null }], w: 2 }, 5],
    [{ w: 2, x: [{ z: null, y: 1 }] }, 5],
    { x: [{ y: 1, z: null }], w: 2 },
    { x: [{ y: 1, z: null }], w: 2 },
    false,
  ],
  'an object with another member shows a difference': [
    [{ x: null }, 5],
    [{ y: null }, 5],
    { y: null },
    { y: null },
    true,
  ],
  'an empty list in place of an empty object shows a difference': [[{}, 5], [[], 5], [], [], true],
  'a null removes a key': [['old', 5], [null, 6], undefined, null, true],
  'an older null removes nothing': [['old', 5], [null, 4], 'old', undefined, false],
  'a null for what is absent delivers nothing': [undefined, [null, 5], undefined, undefined, false],
  'entity/2: a removed key is not brought back by an older value': [
    [null, 5],
    ['late', 4],
    undefined,
    undefined,
    false,
  ],
  'entity/2: a removed key is brought back by a newer value': [
    [null, 5],
    ['new', 6],
    'new',
    'new',
    true,
  ],
}

for (const [name, [before, [value, at], after, delivered, visible]] of Object.entries(rows)) {
  test(name, (t) => {
    const body =
      before === undefined ? EMPTY_BODY : bodyAfter(attrsAt(before[1], { key: before[0] }))
    const outcome = merged(merge(body, attrsAt(at, { key: value })))
    t.deepEqual(valuesOf(outcome.body.attrs)['key'], after)
    t.deepEqual(outcome.effect.attrs?.['key'], delivered)
    t.is(outcome.visible, visible)
  })
}

test('entity/2: the mark of a removal also comes from a null for a key that was never there', (t) => {
  const body = bodyAfter(attrsAt(5, { key: null }), attrsAt(4, { key: 'late' }))
  t.deepEqual(plain(valuesOf(body.attrs)), {})
})

test('a patch does not change its arguments', (t) => {
  const before = bodyAfter(attrsAt(1, { a: 1, b: 2 }))
  const text = JSON.stringify(before)
  merge(before, attrsAt(2, { a: 9, b: null, c: 3 }))
  t.is(JSON.stringify(before), text)
})

test('names like those of prototypes are plain data', (t) => {
  for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    const patch: Patch = { at: 1, fields: NONE, attrs: record([[key, { polluted: true }]]) }
    const { body, effect } = merged(merge(EMPTY_BODY, patch))
    t.deepEqual(Object.keys(valuesOf(body.attrs)), [key])
    t.is(JSON.stringify(effect.attrs), `{"${key}":{"polluted":true}}`)
    t.false('polluted' in {})

    const removed = merged(merge(body, { at: 2, fields: NONE, attrs: record([[key, null]]) }))
    t.deepEqual(Object.keys(valuesOf(removed.body.attrs)), [])
    t.is(JSON.stringify(removed.effect.attrs), `{"${key}":null}`)
  }
})

/** A text that makes `{"key":text}` take so many bytes as JSON. */
const filling = (bytes: number, unit: string): string => {
  const room = bytes - '{"key":""}'.length
  const size = Buffer.byteLength(JSON.stringify(unit)) - 2
  return unit.repeat(Math.floor(room / size)) + 'x'.repeat(room % size)
}

// Method: the part of an entity, its limit, and the code of a patch that goes one byte beyond.
const limits = [
  ['attrs', ATTRS_BYTES_MAX, 'attrs_too_large'],
  ['externalIds', EXTERNAL_IDS_BYTES_MAX, 'entity_too_large'],
  ['fields', FIELDS_BYTES_MAX, 'entity_too_large'],
] as const

for (const [part, limit, code] of limits) {
  test(`${part} may take ${limit} bytes of JSON and not one more`, (t) => {
    for (const unit of ['x', 'é', '語', '🌍', '"', '\u0001']) {
      const patchOf = (bytes: number): Patch => {
        const values = fieldsOf({ key: filling(bytes, unit) })
        return { at: 1, fields: NONE, [part]: values }
      }
      const full = merged(merge(EMPTY_BODY, patchOf(limit)))
      t.is(Buffer.byteLength(JSON.stringify(valuesOf(full.body[part]))), limit)
      t.deepEqual(merge(EMPTY_BODY, patchOf(limit + 1)), { kind: 'refused', code })
    }
  })
}

test('the limits are those of the decisions', (t) => {
  t.is(ATTRS_BYTES_MAX, 65_536)
})

test('many numbers and short texts are counted as they are written', (t) => {
  const values: Record<string, Json> = {}
  let bytes = 1
  for (let number = 0; bytes < ATTRS_BYTES_MAX - 60; number += 1) {
    const value = number % 2 === 0 ? number : [number, true]
    values[`k${number}`] = value
    bytes += JSON.stringify([`k${number}`, value]).length - 1
  }
  const room = ATTRS_BYTES_MAX - JSON.stringify(values).length - ',"end":""'.length
  const fits = { ...values, end: 'x'.repeat(room) }
  t.is(JSON.stringify(fits).length, ATTRS_BYTES_MAX)
  t.is(merge(EMPTY_BODY, attrsAt(1, fits)).kind, 'merged')
  t.is(merge(EMPTY_BODY, attrsAt(1, { ...fits, end: 'x'.repeat(room + 1) })).kind, 'refused')
})

/** Three removals at times 1, 2, 3 whose marks take 20,006 bytes each beside a live value. */
function withRemovals(liveBytes: number): Body {
  const name = (mark: string): string => mark.repeat(20_000 - 2)
  return bodyAfter(
    attrsAt(1, { [name('a')]: null }),
    attrsAt(3, { [name('c')]: null }),
    attrsAt(2, { [name('b')]: null }),
    attrsAt(4, { key: filling(liveBytes, 'x') }),
  )
}

const marksOf = ({ attrs }: Body): string =>
  Object.keys(attrs.values)
    .filter((key) => attrs.values[key] === null)
    .map((key) => key.charAt(0))
    .toSorted()
    .join('')

// Method: live bytes, and the marks that stay beside them.
for (const [liveBytes, marks] of [
  [ATTRS_BYTES_MAX - 3 * 20_006, 'abc'],
  [ATTRS_BYTES_MAX - 3 * 20_006 + 1, 'bc'],
  [ATTRS_BYTES_MAX - 2 * 20_006, 'bc'],
  [ATTRS_BYTES_MAX - 2 * 20_006 + 1, 'c'],
  [ATTRS_BYTES_MAX - 1, ''],
] as const) {
  test(`beside ${liveBytes} live bytes the marks of removals that stay are '${marks}'`, (t) => {
    const body = withRemovals(liveBytes)
    t.is(marksOf(body), marks)
    t.is(Object.keys(body.attrs.times ?? {}).length, marks.length, 'times go with them')
    t.is(valuesOf(body.attrs)['key'], filling(liveBytes, 'x'))
  })
}

test('a patch of one part leaves the others as they are', (t) => {
  const before = bodyAfter({ ...attrsAt(1, { a: 1 }), externalIds: fieldsOf({ e: 'x' }) })
  const { body, effect } = merged(merge(before, { at: 2, fields: fieldsOf({ title: 'now' }) }))
  t.deepEqual(plain(valuesOf(body.fields)), { title: 'now' })
  t.deepEqual(body.attrs, timedOf({ a: [1, 1] }, 2))
  t.deepEqual(body.externalIds, timedOf({ e: ['x', 1] }, 2))
  const later = merged(merge(body, { at: 3, fields: fieldsOf({ title: 'then' }) })).body
  t.is(later.attrs, body.attrs, 'once its times are kept, nothing is made anew')
  t.is(effect.attrs, undefined)
  t.is(effect.externalIds, undefined)
})

const KEYS = ['a', 'b', '__proto__'] as const

const somePatch: fc.Arbitrary<Patch> = fc
  .record({
    at: fc.integer({ min: 1, max: 4 }),
    attrs: fc.option(fc.uniqueArray(fc.constantFrom(...KEYS)), { nil: undefined }),
    value: fc.constantFrom(1, 2, null),
    title: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
  })
  .map(({ at, attrs, value, title }) => ({
    at,
    fields: title === undefined ? NONE : fieldsOf({ title }),
    ...(attrs !== undefined && { attrs: record(attrs.map((key) => [key, value])) }),
  }))

/** entity/1 and entity/2 for one part, key by key. */
function pairsOf(patches: readonly Patch[], part: 'attrs' | 'fields') {
  const pairs = bare<readonly [Json, number]>()
  for (const { at, [part]: values = NONE } of patches) {
    for (const [key, value] of Object.entries(values)) {
      const prior = pairs[key]
      if (prior === undefined || prior[1] <= at) pairs[key] = [value, at]
    }
  }
  return pairs
}

test('entity/1, entity/2: each value has the newest time that set it, whatever came in between', (t) => {
  const agrees = fc.property(fc.array(somePatch, { minLength: 1, maxLength: 8 }), (patches) => {
    const { at, attrs, fields } = bodyAfter(...patches)
    t.is(at, Math.max(...patches.map((patch) => patch.at)))
    t.deepEqual(attrs, timedOf(pairsOf(patches, 'attrs'), at))
    t.deepEqual(fields, timedOf(pairsOf(patches, 'fields'), at))
  })
  fc.assert(agrees, { numRuns: 2_000 })
})
