// Goal: the first view tells truly what is wrong and how old each value is, and the address keeps
// what was asked of it.

import test from 'ava'

import { faceOf, facesOf, shownAs } from '#console/model/faces.ts'
import type { Face, Presentation } from '#console/model/faces.ts'
import { askedIn, hashOf, routeOf } from '#console/model/address.ts'
import { changedFace, ownFace, withFace, without } from '#console/model/own-faces.ts'
import { mapOf, placeOf } from '#console/overview/places.ts'
import {
  concernsOf,
  isAboutSilence,
  quietSince,
  silenceFor,
  standingOf,
  usualEveryMs,
} from '#console/overview/standing.ts'
import type { EventView } from '#src/client/view'
import type { Json } from '#domain/submission'

const CHANNEL = { id: 'c' }

const event = (id: string, fields: Readonly<Record<string, Json>>, ruleId?: string) => ({
  channel: CHANNEL,
  event: {
    id,
    state: 'open',
    rev: 1,
    seq: Number(id),
    fields,
    attrs: ruleId === undefined ? {} : { rule_id: ruleId },
  } satisfies EventView,
})

const OPEN = [
  event('1', { severity: 'high', thing_id: 'a' }, 'silence'),
  event('2', { severity: 'high', thing_id: 'b' }, 'silence'),
  event('3', { severity: 'critical', thing_id: 'a' }, 'warm'),
  event('4', { severity: 'critical', thing_id: 'c', acknowledged_at: 5 }, 'warm'),
  event('5', { title: 'by hand' }),
  event('6', { thing_id: 'd', acknowledged_at: 5, snoozed_until: 50 }, 'door'),
]
const isSilence = (_: typeof CHANNEL, ruleId: string): boolean => ruleId === 'silence'

test('a Thing is wrong while an Event of it is open, and silent while a rule about silence says so', (t) => {
  const { counts, held } = standingOf(OPEN, isSilence, 10)
  t.deepEqual(Object.fromEntries(counts), { silent: 2, critical: 2, normal: 2 })
  t.is(held, 2)
  // A snooze ends by itself.
  t.is(standingOf(OPEN, isSilence, 51).held, 1)
})

test('what nobody has stands once for each rule, the gravest first', (t) => {
  const rows = (presentMs: number) =>
    concernsOf(OPEN, presentMs).map(({ ruleId, events }) => [ruleId, ...events.map(({ id }) => id)])
  t.deepEqual(rows(10), [
    ['warm', '3'],
    ['silence', '2', '1'],
    ['', '5'],
  ])
  t.deepEqual(rows(51).at(2), ['door', '6'])
})

test('nothing has been open since the last Event ended', (t) => {
  const closed = OPEN.map((open, at) => ({
    ...open.event,
    state: at === 0 ? 'open' : 'closed',
    fields: { ended_at: 100 - at },
  }))
  t.is(quietSince(closed), 99)
  t.is(quietSince([]), undefined)
})

test('a rule is about silence wherever its condition says so', (t) => {
  t.true(isAboutSilence({ silent: '1m' }))
  t.true(isAboutSilence({ any: [{ attr: 'a', above: 1 }, { all: [{ silent: '1h' }] }] }))
  t.false(isAboutSilence({ attr: 'silent', above: 1 }))
  t.false(isAboutSilence(undefined))
})

const INTERVALS: readonly (readonly [times: readonly number[], everyMs: number | undefined])[] = [
  [[], undefined],
  [[0, 12], undefined],
  [[0, 12, 24], 12],
  [[0, 12, 24, 300, 312], 12],
]

for (const [times, everyMs] of INTERVALS) {
  test(`updates at ${times.join()} come every ${everyMs ?? '?'}`, (t) => {
    t.is(usualEveryMs(times), everyMs)
  })
}

test('silence is five updates that do not come, in times that people use', (t) => {
  const SECOND = 1_000
  t.deepEqual(
    [1, 12, 13, 720, 721, 5_000, 100_000].map((every) => silenceFor(every * SECOND)),
    ['1m', '1m', '2m', '1h', '2h', '12h', '7d'],
  )
})

const PRESENTATION: Presentation = [
  { things: {}, attrs: { temperature: { label: 'Temperature', unit: '°C', decimals: 1 } } },
  { things: { prefix: 'boiler-' }, attrs: { temperature: { label: 'Flow', order: 2 } } },
  {
    things: { tag: 'cellar' },
    attrs: {
      temperature: { max: 90 },
      open: { on: 'open', off: 'shut', order: 1 },
      x: { hidden: true },
    },
  },
]
const BOILER = {
  id: 'boiler-1',
  fields: { tags: ['cellar'] },
  attrs: { temperature: 61.25, x: 1, open: false },
}

test('the face of an attr has each member from the last entry that says it', (t) => {
  const flow = { label: 'Flow', unit: '°C', decimals: 1, order: 2, max: 90 }
  t.deepEqual(faceOf(PRESENTATION, BOILER, 'temperature'), flow)
  const door = { ...BOILER, id: 'door-1', fields: {} }
  t.is(faceOf(PRESENTATION, door, 'temperature').label, 'Temperature')
  t.deepEqual(faceOf(PRESENTATION, BOILER, 'toString'), {})
  t.deepEqual(
    facesOf(PRESENTATION, BOILER).map(([name]) => name),
    ['open', 'temperature'],
  )
})

test('a change of a face has what a person wrote, and leaves the rest of it and of others', (t) => {
  const known = { label: 'Flow', unit: '°C', min: 5 }
  t.deepEqual(changedFace(known, { unit: '', decimals: ' 1 ' }, false), {
    label: 'Flow',
    min: 5,
    decimals: 1,
  })
  t.deepEqual(changedFace({ hidden: true }, {}, false), {})
  t.deepEqual(changedFace(known, {}, true), { ...known, hidden: true })
  const boilers = { prefix: 'boiler-' }
  const changed = withFace(PRESENTATION, boilers, 'temperature', { order: 3 })
  t.deepEqual(changed[1], { things: boilers, attrs: { temperature: { order: 3 } } })
  t.deepEqual([changed[0], changed[2]], [PRESENTATION[0], PRESENTATION[2]])
  t.deepEqual(ownFace(changed, boilers, 'temperature'), { order: 3 })
  t.is(without(changed, boilers, 'temperature').length, 2)
})

test('a face of all Things stands before those that say more, and another one behind them', (t) => {
  const special = PRESENTATION.slice(1)
  t.deepEqual(withFace(special, {}, 'x', {})[0], { things: {}, attrs: { x: {} } })
  t.deepEqual(withFace(special, { tag: 'attic' }, 'x', {}).at(-1)?.things, { tag: 'attic' })
})

const FACES: readonly (readonly [face: Face, name: string, value: Json, text: string])[] = [
  [{}, 'humidity', 41.5, '41.5 %'],
  [{ unit: 'rpm' }, 'humidity', 41.5, '41.5 rpm'],
  [{ decimals: 2 }, 'humidity', 41.5, '41.50 %'],
  [{ decimals: 0, unit: '' }, 'humidity', 41.4, '41 '],
  [{ on: 'open', off: 'shut' }, 'door', true, 'open '],
  [{ on: 'open', off: 'shut' }, 'door', false, 'shut '],
  [{ on: 'open' }, 'door', false, 'false '],
  [{ unit: 'rpm' }, 'mode', 'on', 'on '],
]

for (const [face, name, value, expected] of FACES) {
  test(`${name} of ${JSON.stringify(value)} with ${JSON.stringify(face)} reads ${expected}`, (t) => {
    const { text, unit } = shownAs(face, name, value, 'en')
    t.is(`${text} ${unit}`, expected)
  })
}

test('the address has the place, and behind it what is asked of the view', (t) => {
  const place = { view: 'overview', channelId: 'C' } as const
  const wanted = { search: 'a&b #1 temperature>20', open: 'critical' }
  const hash = hashOf(place, { ...wanted, order: '' })
  t.deepEqual(routeOf(hash), place)
  t.deepEqual(askedIn(hash), wanted)
  t.deepEqual(askedIn('#/C/overview&wall'), { wall: 'on' })
  t.deepEqual(askedIn('#/C/overview'), {})
})

test('a link for a display keeps its secret whole, and out of what is asked', (t) => {
  const place = { view: 'open', channelId: 'C', secret: 'a/b&c', token: 't&u' } as const
  const hash = hashOf(place, { wall: 'on' })
  t.deepEqual(routeOf(hash), place)
  t.deepEqual(askedIn(hash), { wall: 'on' })
})

const PLACES: readonly (readonly [fields: Readonly<Record<string, Json>>, place: unknown])[] = [
  [{ location_type: 'geo', location_value: '48.2, 16.37' }, [48.2, 16.37]],
  [{ location_type: 'geo', location_value: '48.2,' }, undefined],
  [{ location_type: 'geo', location_value: '91,0' }, undefined],
  [{ location_type: 'room', location_value: '48.2,16.37' }, undefined],
]

for (const [fields, place] of PLACES) {
  test(`a Thing at ${JSON.stringify(fields)} is ${place === undefined ? 'nowhere' : 'there'}`, (t) => {
    t.deepEqual(placeOf({ fields, attrs: {} }), place as never)
  })
}

test('a map has every place within it, north up, also a single one', (t) => {
  const { at, width, height, bar } = mapOf([
    [48, 16],
    [49, 17],
  ])
  const [[west, south], [east, north]] = [at([48, 16]), at([49, 17])]
  t.true(
    west < east && south > north && west >= 0 && east <= width && north >= 0 && south <= height,
  )
  t.regex(bar.text, /^\d+ k?m$/)
  t.deepEqual(mapOf([[48, 16]]).at([48, 16]), [width / 2, height / 2])
})
