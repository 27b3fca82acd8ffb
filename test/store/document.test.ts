import * as fc from 'fast-check'
import test from 'ava'

import { bare } from '#domain/record'
import type { Thing } from '#domain/entity'
import { NO_FIELDS } from '#domain/patch'
import type { Json } from '#domain/submission'
import { documentOf, thingFrom } from '#src/store/turns/document'
import { timedOf } from '#test/support/submissions'

/** Values under names that callers may choose, each set at one of three times. */
const TIMES = [0, 7, 1_790_000_000_000] as const
const pairs = fc
  .array(
    fc.tuple(
      fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'times')),
      fc.oneof(fc.jsonValue(), fc.constant(null), fc.constant([1, 2])),
      fc.constantFrom(...TIMES),
    ),
    { maxLength: 6 },
  )
  .map((named) => {
    const made = bare<readonly [Json, number]>()
    // -0 is no JSON.
    for (const [name, value, at] of named) made[name] = [JSON.parse(JSON.stringify(value)), at]
    return made
  })

const things: fc.Arbitrary<Thing> = fc
  .record({
    state: fc.constantFrom('active', 'archived', 'deleted'),
    rev: fc.nat(),
    stateAt: fc.nat(),
    at: fc.constantFrom(...TIMES),
    changedAt: fc.nat(),
    parts: fc.tuple(pairs, pairs, pairs),
  })
  .map(({ parts: [fields, attrs, externalIds], ...rest }) => ({
    ...rest,
    id: 'lamp',
    seq: 3,
    fields: timedOf(fields, rest.at),
    attrs: timedOf(attrs, rest.at),
    externalIds: timedOf(externalIds, rest.at),
  }))

const rowOf = ({ id, state, seq }: Thing, document: string) => ({ id, state, seq, document })

test('a document reads back as it was written', (t) => {
  const reads = fc.property(things, (thing) => {
    t.deepEqual(thingFrom(rowOf(thing, documentOf(thing))), thing)
  })
  fc.assert(reads, { numRuns: 2_000 })
  t.pass()
})

const LAMP: Thing = {
  id: 'lamp',
  state: 'active',
  seq: 3,
  rev: 2,
  stateAt: 5,
  at: 9,
  changedAt: 10,
  fields: timedOf({ title: ['Lamp', 5] }, 9),
  attrs: timedOf({ level: [1, 9], on: [null, 9] }, 9),
  externalIds: NO_FIELDS,
}

test('a document holds times only for values that were not set last', (t) => {
  t.deepEqual(JSON.parse(documentOf(LAMP)), {
    rev: 2,
    stateAt: 5,
    at: 9,
    changedAt: 10,
    fields: { title: 'Lamp' },
    attrs: { level: 1, on: null },
    externalIds: {},
    times: { fields: { title: 5 } },
  })
})

test('a document with a time for each value, as they were first written, is read', (t) => {
  const { rev, stateAt, at, changedAt } = LAMP
  const parts = { fields: { title: ['Lamp', 5] }, attrs: { level: [1, 9], on: [null, 9] } }
  const first = JSON.stringify({ rev, stateAt, at, changedAt, ...parts, externalIds: {} })
  t.deepEqual(thingFrom(rowOf(LAMP, first)), LAMP)
})

test('a document that is damaged is refused', (t) => {
  const good = JSON.parse(documentOf(LAMP)) as Record<string, unknown>
  const damages: readonly unknown[] = [
    [],
    null,
    { ...good, rev: 'x' },
    { ...good, attrs: 1 },
    { ...good, attrs: [] },
    { ...good, times: 1 },
    { ...good, times: { attrs: 1 } },
    { ...good, times: { attrs: { level: 'x' } } },
    { ...good, times: undefined },
  ]
  for (const damage of damages) {
    const document = JSON.stringify(damage)
    t.throws(() => thingFrom(rowOf(LAMP, document)), { message: /event is damaged/ }, document)
  }
})
