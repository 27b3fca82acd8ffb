// Goal: a channel's own mappings turn any topic into Things and Messages, and a wrong one is refused.
// Method: one row a mapping with a publish, or with the member that is refused.

import test from 'ava'
import * as fc from 'fast-check'

import { isFault } from '#domain/fault'
import { readMappings } from '#src/schemas/mappings/mapping'
import type { MappingFields } from '#src/schemas/mappings/mapping-schemas'
import { compilePattern } from '#src/schemas/mappings/topic-pattern'
import { ARRIVED, connectionOf, outcomeOf } from '#test/support/device-publish'
import type { Payload } from '#test/support/device-publish'

const MAPPING = { topic: 'home/+room/+device/state', thing: '{room}-{device}', time: 'ts' }
const TOPIC = 'home/attic/lamp/state'

function outcome(mapping: MappingFields, topic: string, payload: Payload) {
  const mappings = readMappings([mapping])
  if (isFault(mappings)) throw new Error(mappings.detail)
  return outcomeOf([[topic, payload]], connectionOf(mappings))
}

const LAMP = { update: 'attic-lamp' }
const rows: readonly (readonly [string, Payload, string | readonly object[], object?])[] = [
  [TOPIC, '{"w":4,"ts":1767225600.25}', [{ ...LAMP, attrs: { w: 4 }, at: 1_767_225_600_250 }]],
  [
    TOPIC,
    '{"w":{"a":1,"b":null},"l":[1]}',
    [{ ...LAMP, attrs: { 'w.a': 1, 'w.b': null, l: [1] } }],
  ],
  [TOPIC, 'ON', [{ ...LAMP, attrs: { state: true } }]],
  [TOPIC, '', []],
  [TOPIC, '{}', []],
  [TOPIC, '[1]', 'invalid_json_data payload'],
  [TOPIC, new Uint8Array([0xff, 0xfe]), 'validation_failed payload'],
  ['home/attic/lamp', 'ON', 'nothing takes the topic'],
  ['home/attic/x/lamp/state', 'ON', 'nothing takes the topic'],
  [TOPIC, '{"w":4,"ts":1}', [{ ...LAMP, attrs: { 'p.w': 4 } }], { prefix: 'p.' }],
  [TOPIC, '7', [{ ...LAMP, attrs: { 'p.state': 7 } }], { prefix: 'p.' }],
  ['home/a b/lamp/state', '7', [{ update: 'a_b-c8687a08-lamp', attrs: { state: 7 } }]],
  ['x/a/b/c', '7', [{ update: 'a:b:c', attrs: { c: 7 } }], { topic: 'x/#all', thing: '{all}' }],
  ['x/a.b', '7', [{ update: 'z', attrs: { 'a.b': 7 } }], { topic: 'x/a.b', thing: 'z' }],
  ['x/aab', '7', 'nothing takes the topic', { topic: 'x/a.b', thing: 'z' }],
  [
    TOPIC,
    'Leak',
    [{ message: 'Leak', title: 'Leak', body: 'Leak', thing: 'attic-lamp' }],
    { kind: 'message' },
  ],
  [
    'tele/plug/SENSOR',
    '{"a":1}',
    [{ update: 'mine', attrs: { a: 1 } }],
    { topic: 'tele/#all', thing: 'mine' },
  ],
  [
    'things/b1/attrs',
    '{"a":1}',
    [{ update: 'b1', attrs: { a: 1 } }],
    { topic: 'things/#all', thing: 'mine' },
  ],
]

for (const [topic, payload, expected, change = {}] of rows) {
  const shown = payload instanceof Uint8Array ? 'bytes' : payload
  test(`${topic} with ${JSON.stringify(shown)} by ${JSON.stringify(change)}`, (t) => {
    t.deepEqual(outcome({ ...MAPPING, ...change }, topic, payload), expected)
  })
}

const times: readonly (readonly [sent: unknown, expected: number])[] = [
  ['2026-03-01T10:00:00Z', Date.UTC(2026, 2, 1, 10)],
  ['2026-03-01T10:00:00.5+02:00', Date.UTC(2026, 2, 1, 8, 0, 0, 500)],
  ['2026-03-01T10:00:00+0200', Date.UTC(2026, 2, 1, 8)],
  ['2020-02-12T15:15:46.014773143Z', Date.UTC(2020, 1, 12, 15, 15, 46, 14)],
  [1_767_225_600, 1_767_225_600_000],
  [1_767_225_600_123, 1_767_225_600_123],
  [ARRIVED + 86_400_000, ARRIVED + 86_400_000],
  [ARRIVED + 86_400_001, ARRIVED],
  ['2019-11-03T19:34:28', ARRIVED],
  ['2000-12-31T23:59:59Z', ARRIVED],
  [1.61, ARRIVED],
  [999_999_999, ARRIVED],
  [-1, ARRIVED],
  [null, ARRIVED],
  ['yesterday', ARRIVED],
  ['2026-02-31T25:00:00Z', ARRIVED],
]

for (const [sent, expected] of times) {
  test(`payload/1: the time ${JSON.stringify(sent)} counts from ${expected}`, (t) => {
    const [wish] = outcome(MAPPING, TOPIC, { w: 1, ts: sent })
    t.deepEqual(wish, { ...LAMP, attrs: { w: 1 }, ...(expected !== ARRIVED && { at: expected }) })
  })
}

test('payload/2: names of attrs that a prototype has are plain data', (t) => {
  const [wish] = outcome(MAPPING, TOPIC, '{"__proto__":{"x":1},"constructor":2}')
  const { attrs } = wish as { attrs: object }
  t.deepEqual(Object.entries(attrs), [
    ['__proto__.x', 1],
    ['constructor', 2],
  ])
  t.deepEqual(
    Object.entries((outcome(MAPPING, TOPIC, '{"__proto__":3}')[0] as { attrs: object }).attrs),
    [['__proto__', 3]],
  )
  t.is(Object.getPrototypeOf({}), Object.prototype)
})

test('translate/1: a submission is as large as a request body at most', (t) => {
  const text = (length: number) => outcome(MAPPING, TOPIC, { text: 'x'.repeat(length) })
  t.is(text(32_600).length, 1)
  t.is(text(32_768), 'body_too_large payload')
})

const refused: readonly (readonly [sent: readonly unknown[], field: string])[] = [
  [Array.from({ length: 101 }, () => MAPPING), 'mappings'],
  [['x'], 'mappings[0]'],
  [[MAPPING, { ...MAPPING, topic: undefined }], 'mappings[1].topic'],
  [[{ ...MAPPING, topic: 'a/+/b' }], 'mappings[0].topic'],
  [[{ ...MAPPING, topic: 'a/#' }], 'mappings[0].topic'],
  [[{ ...MAPPING, topic: '#a/x/#b', thing: 'x' }], 'mappings[0].topic'],
  [[{ ...MAPPING, topic: '+a/+a', thing: 'x' }], 'mappings[0].topic'],
  [[{ ...MAPPING, topic: '' }], 'mappings[0].topic'],
  [[{ ...MAPPING, topic: 'x'.repeat(513) }], 'mappings[0].topic'],
  [[{ ...MAPPING, thing: '{house}' }], 'mappings[0].thing'],
  [[{ ...MAPPING, thing: 'a b' }], 'mappings[0].thing'],
  [[{ ...MAPPING, thing: '' }], 'mappings[0].thing'],
  [[{ ...MAPPING, time: 5 }], 'mappings[0].time'],
  [[{ ...MAPPING, prefix: 'a\0' }], 'mappings[0].prefix'],
  [[{ ...MAPPING, kind: 'event' }], 'mappings[0].kind'],
  [[{ ...MAPPING, tme: 'ts' }], 'mappings[0]'],
]

for (const [sent, field] of refused) {
  test(`the mappings ${JSON.stringify(sent).slice(0, 90)} are refused for ${field}`, (t) => {
    const read = readMappings(sent)
    t.is(isFault(read) ? read.field : read.length, field)
  })
}

test('a hundred mappings are taken', (t) => {
  const read = readMappings(Array.from({ length: 100 }, () => MAPPING))
  t.is(isFault(read) ? read.detail : read.length, 100)
})

test('a pattern takes what the regular expression of its levels would, and names the same', (t) => {
  const word = fc.constantFrom('a', 'b', 'a.b', '')
  const level = fc.oneof(word, fc.constantFrom('+x', '+y', '#z', '#x'))
  const path = <Level>(one: fc.Arbitrary<Level>) => fc.array(one, { minLength: 1, maxLength: 5 })
  const where = { x: 'a|b' }
  let taken = 0
  fc.assert(
    fc.property(path(level), path(word), (pattern, topic) => {
      const compiled = compilePattern(pattern.join('/'), where)
      if (compiled === undefined) return true
      const sources = pattern.map((one) => {
        const name = one.slice(1)
        if (one === '+x') return `(?<x>${where.x})`
        if (one === '#x') return '(?<x>(?:a|b)(?:/(?:a|b))*)'
        if (one === '+y') return '(?<y>[^/]+)'
        return one === '#z' ? `(?<${name}>[^/]+(?:/[^/]+)*)` : one.replace('.', '\\.')
      })
      const found = new RegExp(`^${sources.join('/')}$`, 'u').exec(topic.join('/'))
      const levels = compiled.match(topic)
      if (levels !== undefined) taken += 1
      return (
        JSON.stringify(inOrder(levels)) ===
        JSON.stringify(inOrder(found?.groups ?? (found ? {} : undefined)))
      )
    }),
    { numRuns: 5_000 },
  )
  t.true(taken > 100)
})

const inOrder = (levels: Readonly<Record<string, string>> | undefined): unknown =>
  levels && Object.entries(levels).toSorted(([one], [other]) => (one < other ? -1 : 1))
