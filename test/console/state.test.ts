// The pure parts of the console: what is found, how values read, and what becomes of hostile texts.

import test from 'ava'

import { Figures, samplesIn } from '#console/state/metrics.ts'
import { Readings, linePath } from '#console/state/readings.ts'
import { groupOf, inNameOrder, inOrder, isFound, queryOf, rowsOf } from '#console/state/search.ts'
import { linkTarget, visible, writable } from '#console/state/text.ts'
import { changesOf, coursesOf, kindOf, pastOf, pointsOf } from '#console/state/thing-history.ts'
import type { CourseKind } from '#console/state/thing-history.ts'
import { shown } from '#console/state/units.ts'
import type { FeedRecord } from '#src/client/bodies'
import type { ThingView } from '#src/client/view'
import type { Json } from '#domain/submission'

const thing = (id: string, more: Partial<ThingView> = {}): ThingView => ({
  id,
  state: 'active',
  rev: 1,
  seq: 1,
  fields: { title: `The ${id}`, observed_at: 1_000, tags: ['Cellar'] },
  attrs: { temperature: 21, mode: 'on' },
  externalIds: {},
  ...more,
})

const SEARCHES: readonly (readonly [text: string, isFound: boolean])[] = [
  ['', true],
  ['BOILER', true],
  ['boiler the', true],
  ['cellar', true],
  ['cell', false],
  ['kitchen', false],
  ['temperature>20', true],
  ['temperature>21', false],
  ['temperature<21.5 mode=ON', true],
  ['mode=off', false],
  ['absent=1', false],
  ['is:archived', false],
  ['is:silent', false],
]

for (const [text, expected] of SEARCHES) {
  test(`a board that is searched for '${text}' ${expected ? 'shows' : 'hides'} the boiler`, (t) => {
    t.is(isFound(thing('boiler-1'), queryOf(text), 0), expected)
  })
}

test('silent and archived Things are found by their marks, archived ones by nothing else', (t) => {
  const archived = thing('boiler-1', { state: 'archived' })
  t.false(isFound(archived, queryOf('boiler'), 0))
  t.true(isFound(archived, queryOf('is:archived'), 0))
  t.true(isFound(thing('boiler-1'), queryOf('is:silent'), 2_000))
})

test('ids are sorted as people count, and groups keep together', (t) => {
  const things = new Map(['door:2', 'boiler-10', 'boiler-2'].map((id) => [id, thing(id)]))
  const ids = inNameOrder([], things)
  t.deepEqual(ids, ['boiler-2', 'boiler-10', 'door:2'])
  things.delete('boiler-10')
  for (const id of ['a', 'boiler-3', 'z']) things.set(id, thing(id))
  t.deepEqual(inNameOrder(ids, things), ['a', 'boiler-2', 'boiler-3', 'door:2', 'z'])
  const sorted = ids.map((id) => thing(id))
  t.deepEqual(
    rowsOf(sorted, true).map((row) => (row.kind === 'group' ? row.name : row.id)),
    ['boiler', 'boiler-2', 'boiler-10', 'door', 'door:2'],
  )
  t.is(groupOf('7'), '7')
  const valued = [{ a: 1 }, {}, { a: 3 }, {}].map((attrs, at) => thing(String(at), { attrs }))
  t.deepEqual(
    inOrder(valued, 'value', 'a').map(({ id }) => id),
    ['2', '0', '1', '3'],
  )
})

const VALUES: readonly (readonly [name: string, value: Json, text: string])[] = [
  ['temperature', 21.456, '21.46 °C'],
  ['used_percent', 7, '7 %'],
  ['memory_bytes', 1_234_000_000, '1.23 GB'],
  ['rx_bytes_per_second', 999, '999 B/s'],
  ['uptime_seconds', 59, '59 s'],
  ['uptime_seconds', 86_400, '24 h'],
  ['count', 12_345, '12,345 '],
  ['tiny', 0.000_012_3, '1.23E-5 '],
  ['huge', 1.5e15, '1.5E15 '],
  ['below', 999_999_999_999_999, '999,999,999,999,999 '],
  ['mode', 'on', 'on '],
  ['list', [1, 'a'], '[1,"a"] '],
  ['is_on', true, 'true '],
]

for (const [name, value, expected] of VALUES) {
  test(`${name} of ${JSON.stringify(value)} reads ${expected}`, (t) => {
    const { text, unit } = shown(name, value, 'en')
    t.is(`${text} ${unit}`, expected)
  })
}

const LINKS: readonly (readonly [text: string, isLed: boolean])[] = [
  ['https://example.com/a', true],
  ['mailto:a@example.com', true],
  ['javascript:alert(1)', false],
  [' JAVASCRIPT:alert(1)', false],
  ['java\nscript:alert(1)', false],
  ['data:text/html,<script>', false],
  ['vbscript:x', false],
  ['//example.com', false],
  ['file:///etc/passwd', false],
]

for (const [text, isLed] of LINKS) {
  test(`a link to ${JSON.stringify(text)} leads ${isLed ? 'there' : 'nowhere'}`, (t) => {
    t.is(linkTarget(text) !== undefined, isLed)
  })
}

test('control characters and those that turn the direction can be seen', (t) => {
  t.is(visible('a\u202eb\u0007c\u200bd\ne'), 'a⟨202E⟩b␇c⟨200B⟩d\ne')
})

test('JSON to be written on has them as escapes, and means the same', (t) => {
  const value = { title: 'a\u202eb\u0007c\u200bd\ne', list: [1] }
  const text = writable(value)
  t.true(text.includes(String.raw`a\u202eb\u0007c\u200bd\ne`))
  t.deepEqual(JSON.parse(text), value)
})

test('a line keeps few points, its ends, and an hour at most', (t) => {
  const readings = new Readings()
  for (let at = 0; at < 7_200; at += 1) readings.add(at * 1_000, at % 100)
  const { times } = readings
  t.true(times.length <= 96 && times.length >= 24, `${times.length} points`)
  t.true((times.at(-1) ?? 0) - (times[0] ?? 0) <= 3_600_000)
  t.true((times.at(-1) ?? 0) > 7_000_000)
  t.regex(linePath(readings, 100, 20), /^M0\.0 [\d.]+(L[\d.]+ [\d.]+)+$/)
  t.is(linePath({ times: [1], values: [1] }, 100, 20), '')
})

const entry = (acceptedAt: number, payload: FeedRecord['payload']): FeedRecord =>
  ({ accepted_at: acceptedAt, payload }) as FeedRecord

test('late readings stand where they belong in the course of a value', (t) => {
  const entries = [
    entry(10, { observed_at: 5, attrs: { a: 1, b: 'text' } }),
    entry(20, { observed_at: 3, attrs: { a: 2 } }),
    entry(30, { attrs: { a: null } }),
    entry(40, { title: 'no attrs' }),
  ]
  t.deepEqual(
    [...coursesOf(entries)],
    [
      ['a', { times: [3, 5, 30], values: [2, 1, null] }],
      ['b', { times: [5], values: ['text'] }],
    ],
  )
  t.is(pastOf(entries).setAt.get('b'), 5)
})

const COURSES: readonly (readonly [values: readonly Json[], kind: CourseKind, drawn: unknown])[] = [
  [[1, 'unavailable', 2, null], 'line', [1, null, 2, null]],
  [[false, true, null], 'steps', [0, 1, null]],
  [[true, false, 3], 'line', [1, 0, 3]],
  [['idle', 'idle', 'run', null], 'changes', [null, 'run', 'idle']],
  [[{ a: 1 }, { a: 1 }, { a: 2 }], 'changes', [{ a: 2 }, { a: 1 }]],
]

for (const [values, kind, drawn] of COURSES) {
  test(`a course of ${JSON.stringify(values)} is drawn as ${kind}`, (t) => {
    const course = { times: values.map((_, at) => at), values }
    t.is(kindOf(course), kind)
    const changes = changesOf(course)
    t.deepEqual(kind === 'changes' ? changes.map(({ value }) => value) : pointsOf(course), drawn)
  })
}

test('metrics are read with their labels, and counters become rates', (t) => {
  const text = '# HELP x y\nheliograph_a_total{model="the \\"thing\\""} 3\nheliograph_b 1.5e3\n'
  t.deepEqual(
    samplesIn(text).map(({ name, value }) => [name, value]),
    [
      ['heliograph_a_total', 3],
      ['heliograph_b', 1_500],
    ],
  )
  const [before, now] = [new Figures(text, 0), new Figures(text.replace(' 3', ' 9'), 2_000)]
  t.is(now.rate('a_total', before), 3)
  t.is(now.rate('absent', before), undefined)
  t.is(now.sum('b'), 1_500)
})
