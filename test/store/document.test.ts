import * as fc from 'fast-check'
import test from 'ava'

import { bare } from '#domain/bare'
import type { Thing, Timed } from '#domain/entity'
import { documentOf, thingFrom } from '#src/store/document'

/** Values under names that callers may choose, each set at one of three times. */
const timedFields = fc
  .array(
    fc.tuple(
      fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'times')),
      fc.oneof(fc.jsonValue(), fc.constant(null), fc.constant([1, 2])),
      fc.constantFrom(0, 7, 1_790_000_000_000),
    ),
    { maxLength: 6 },
  )
  .map((named) => {
    const fields = bare<Timed>()
    // -0 is no JSON.
    for (const [name, value, at] of named) {
      fields[name] = [JSON.parse(JSON.stringify(value)) as Timed[0], at]
    }
    return fields
  })

const things: fc.Arbitrary<Thing> = fc.record({
  id: fc.constant('lamp'),
  state: fc.constantFrom('active', 'archived', 'deleted'),
  seq: fc.constant(3),
  rev: fc.nat(),
  stateAt: fc.nat(),
  at: fc.constantFrom(0, 7, 1_790_000_000_000),
  changedAt: fc.nat(),
  fields: timedFields,
  attrs: timedFields,
  externalIds: timedFields,
})

const rowOf = ({ id, state, seq }: Thing, document: string) => ({ id, state, seq, document })

test('what is read from a document is what was written', (t) => {
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
  fields: Object.assign(bare<Timed>(), { title: ['Lamp', 5] }),
  attrs: Object.assign(bare<Timed>(), { level: [1, 9], on: [null, 9] }),
  externalIds: bare<Timed>(),
}

test('a document holds the times of those values alone that were not set last', (t) => {
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
  const { rev, stateAt, at, changedAt, fields, attrs, externalIds } = LAMP
  const first = JSON.stringify({ rev, stateAt, at, changedAt, fields, attrs, externalIds })
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
    t.throws(() => thingFrom(rowOf(LAMP, document)), { message: /not what was written/ }, document)
  }
})
