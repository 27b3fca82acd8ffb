import * as fc from 'fast-check'
import test from 'ava'

import { bare } from '#domain/record'
import type { Thing } from '#domain/entity'
import { NO_FIELDS } from '#domain/patch'
import type { Json } from '#domain/submission'
import { documentOf } from '#domain/things/document'
import { syncEntry, thingFrom } from '#src/store/turns/document'
import { channel, timedOf } from '#test/support/submissions'

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

test('document/1: a Thing as one entry tells 8 KiB of times, and that there are more', (t) => {
  const timesOf = (count: number, last = '') => {
    const names = Array.from({ length: count }, (_, at) => `n${at + 100}`)
    const old = [...names, `x${last}`].map((name) => [name, [1, 1_790_000_000_000]] as const)
    const thing = { ...LAMP, attrs: timedOf(Object.fromEntries(old), LAMP.at) }
    const { payload } = syncEntry(channel(1), { ...rowOf(thing, documentOf(thing)), opId: null })
    const { attr_times: times } = JSON.parse(payload) as { readonly attr_times: object | null }
    return times === null ? null : JSON.stringify(times).length
  }
  const length = (timesOf(380) ?? 0) + 1
  t.deepEqual([timesOf(380, 'y'.repeat(8_192 - length + 1)), length < 8_192], [8_192, true])
  t.is(timesOf(380, 'y'.repeat(8_192 - length + 2)), null)
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
