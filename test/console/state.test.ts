// The pure parts of the console: what is found, how values read, and what becomes of hostile texts.

import test from 'ava'

import { Figures, samplesIn } from '#console/state/metrics.ts'
import { Readings, linePath } from '#console/state/readings.ts'
import { finderOf, groupOf, groupsOf, inNameOrder, inOrder } from '#console/search/search.ts'
import type { Answers } from '#console/search/where.ts'
import type { Grouping } from '#console/search/search.ts'
import { linkTarget, visible, writable } from '#console/state/text.ts'
import { shown } from '#console/state/units.ts'
import type { ThingView } from '#src/client/view'
import type { Json } from '#domain/submission'

const thing = (id: string, more: Partial<ThingView> = {}): ThingView => ({
  id,
  state: 'active',
  rev: 1,
  seq: 1,
  fields: { title: `The ${id}`, observed_at: 1_000, tags: ['Cellar'] },
  attrs: { temperature: 21, mode: 'on' },
  attrTimes: {},
  externalIds: {},
  ...more,
})

const finds = (text: string, about: ThingView, answers?: Answers): boolean => {
  const finder = finderOf(text)
  return finder.kind === 'finder' && finder.finds(about, answers)
}

const SEARCHES: readonly (readonly [text: string, isFound: boolean])[] = [
  ['', true],
  ['BOILER', true],
  ['boiler the', true],
  ['cellar', true],
  ['cell', false],
  ['kitchen', false],
  ['-kitchen', true],
  ['kitchen or boiler', true],
  ['temperature>20', true],
  ['temperature > 21', false],
  ['temperature <= 21.5 mode=on', true],
  ['temperature = 20..21', true],
  ['temperature != 20..21', false],
  ['mode=off', false],
  ['mode != off', true],
  ['absent=1', false],
  ['-absent=1', false],
  ['missing:absent has:mode', true],
  ['tag:Cellar,attic', true],
  ['prefix:boiler- -tag:attic', true],
  ['state:archived', false],
  ['state:active', true],
]

for (const [text, expected] of SEARCHES) {
  test(`an overview that is searched for '${text}' ${expected ? 'shows' : 'hides'} the boiler`, (t) => {
    t.is(finds(text, thing('boiler-1')), expected)
  })
}

test('archived Things are found where a state is asked for, and by nothing else', (t) => {
  const archived = thing('boiler-1', { state: 'archived' })
  t.false(finds('boiler', archived))
  t.true(finds('state:archived', archived))
})

test('terms that the page cannot decide are those that the gateway answers', (t) => {
  const finder = finderOf('temperature>20 -silent:10m (near:48,16,5km or cel:"attrs.mode == 1")')
  if (finder.kind !== 'finder') return t.fail()
  t.deepEqual(
    finder.asked.map((term) => Object.keys(term)[0]),
    ['silent', 'near', 'cel'],
  )
  const [silent, near] = finder.asked.map((term) => JSON.stringify(term))
  const said = (isSilent: boolean, isNear: boolean): Answers =>
    new Map([
      [silent ?? '', new Map([['boiler-1', isSilent]])],
      [near ?? '', new Map([['boiler-1', isNear]])],
    ])
  const boiler = thing('boiler-1')
  t.false(finder.finds(boiler), 'nothing is known yet')
  t.true(finder.finds(boiler, said(false, true)))
  t.false(finder.finds(boiler, said(true, true)))
  t.false(finder.finds(boiler, said(false, false)), 'an expression that failed is neither')
})

test('a text that is no query says where it is wrong', (t) => {
  const { code, at } = { code: '', at: -1, ...finderOf('boiler temperature >') }
  t.deepEqual([code, at], ['value_missing', 20])
})

test('ids are sorted as people count, and groups keep together', (t) => {
  const things = new Map(['door:2', 'boiler-10', 'boiler-2'].map((id) => [id, thing(id)]))
  const ids = inNameOrder([], things)
  t.deepEqual(ids, ['boiler-2', 'boiler-10', 'door:2'])
  things.delete('boiler-10')
  for (const id of ['a', 'boiler-3', 'z']) things.set(id, thing(id))
  t.deepEqual(inNameOrder(ids, things), ['a', 'boiler-2', 'boiler-3', 'door:2', 'z'])
  const channel = { id: 'c', name: { value: 'Plant' } }
  const sorted = ids.map((id) => ({ channel, thing: thing(id) }))
  const grouped = (by: Grouping) =>
    groupsOf(sorted, by).map(({ name, items }) => [name, ...items.map((item) => item.thing.id)])
  t.deepEqual(grouped('prefix'), [
    ['boiler', 'boiler-2', 'boiler-10'],
    ['door', 'door:2'],
  ])
  t.deepEqual(grouped('tag'), [['Cellar', ...ids]])
  t.deepEqual(grouped('channel'), [['Plant', ...ids]])
  t.deepEqual(grouped('none'), [['', ...ids]])
  t.is(groupOf('7'), '7')
  const valued = [{ a: 1 }, {}, { a: 3 }, {}].map((attrs, at) => ({
    thing: thing(String(at), { attrs }),
  }))
  t.deepEqual(
    inOrder(valued, 'value', 'a').map((item) => item.thing.id),
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
  const noise = { times: [0, 10], values: [20, 20.2] }
  t.is(linePath(noise, 100, 20), 'M0.0 20.0L100.0 0.0')
  t.is(linePath(noise, 100, 20, 4), 'M0.0 10.5L100.0 9.5', 'it does not fill the height')
})

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
