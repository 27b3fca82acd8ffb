// Goal: what a chart shows is true: readings stand at their own time, silence is a gap, the newest
// is there however busy the channel is, and the address says which span is shown.

import test from 'ava'

import { LiveCourses, keyOf } from '#console/state/past/course-store.ts'
import { readNewest, readPages } from '#console/state/past/feed-pages.ts'
import { limitsIn } from '#console/state/past/limits.ts'
import { overlaysIn, queryForOverlays } from '#console/state/past/overlays.ts'
import { beginningOf, panned, queryFor, spanIn, zoomed } from '#console/state/past/span.ts'
import {
  extended,
  lineOf,
  nearest,
  rangeOf,
  runsOf,
  since,
} from '#console/state/past/thing-history.ts'
import type { Course } from '#console/state/past/thing-history.ts'
import { drawingOf, placeIn, placesIn, scaleLength } from '#console/state/past/track.ts'
import type { FeedRecord } from '#src/client/bodies'
import type { ThingView } from '#src/client/view'
import type { Json } from '#domain/submission'

const HOUR_MS = 3_600_000
const NOW_MS = Date.UTC(2026, 4, 1, 12)

const readings = (...values: readonly Json[]): Course => ({
  times: values.map((_, at) => at * 10),
  values,
})

const STEPS: Course = {
  times: [0, 100],
  values: [2, 4],
  steps: { ms: 100, low: [1, 3], high: [3, 5], counts: [2, 1] },
}

test('a late reading stands at its own time, and one that comes again takes no place', (t) => {
  const course = extended(extended(readings(1, 2), 20, 3), 5, 9)
  t.deepEqual(course, { times: [0, 5, 10, 20], values: [1, 9, 2, 3] })
  t.deepEqual(extended(course, 5, 9), course)
})

test('a reading counts in the step of its own time', (t) => {
  t.deepEqual(extended(STEPS, 199, 6), {
    times: [0, 100],
    values: [2, 5],
    steps: { ms: 100, low: [1, 3], high: [3, 6], counts: [2, 2] },
  })
  t.like(extended(STEPS, 200, 8), { times: [0, 100, 200], values: [2, 4, 8] })
  t.like(extended(STEPS, 50, 0), { values: [4 / 3, 4], steps: { low: [0, 3], counts: [3, 1] } })
  t.is(extended(STEPS, 200, 'unavailable'), STEPS)
})

test('what is before the span is forgotten', (t) => {
  t.deepEqual(since(readings(1, 2, 3), 10).times, [10, 20])
  t.like(since(STEPS, 100), { times: [100], steps: { low: [3], high: [5], counts: [1] } })
})

test('silence is a gap, and a pause that is usual is none', (t) => {
  const usual = Array.from({ length: 20 }, (_, at) => at * 10)
  const times = [...usual, 230, 271]
  const course = { times, values: times.map(() => 1) }
  t.deepEqual(
    lineOf(course, 300).times.filter((_, at) => lineOf(course, 300).values[at] === null),
    [250.5],
  )
  t.deepEqual(lineOf(readings(1, 'unavailable', 2), 200).values, [1, null, 2])
})

test('a step stands at its middle, the present one not after the present', (t) => {
  const line = lineOf(STEPS, 120)
  t.deepEqual(line, { times: [50, 120], values: [2, 4], low: [1, 3], high: [3, 5] })
  t.deepEqual(nearest(line, 110), { time: 120, value: 4, low: 3, high: 5 })
  t.is(nearest(lineOf(readings(1, null), 50), 10), undefined)
})

test('a state holds until the next, the last one until the present, and a removed one not', (t) => {
  t.deepEqual(runsOf(readings(true, true, false, null), 90), [
    { fromMs: 0, toMs: 20, value: true },
    { fromMs: 20, toMs: 30, value: false },
  ])
  t.deepEqual(runsOf(readings('on'), 90), [{ fromMs: 0, toMs: 90, value: 'on' }])
})

test('the range of a day has the extremes of its steps', (t) => {
  t.deepEqual(rangeOf(STEPS), { low: 1, high: 5, change: 2 })
  t.is(rangeOf(readings('on', 3)), undefined)
})

const thing = (seq: number, attrs: ThingView['attrs']): ThingView => ({
  id: 'a',
  state: 'active',
  rev: seq,
  seq,
  fields: {},
  attrs,
  attrTimes: undefined,
  externalIds: {},
})

test('live values extend what was read, each at its own time and once', (t) => {
  const store = new LiveCourses()
  store.take('a', new Map([['t', readings(1)]]))
  store.follow(thing(1, { t: 1 }), () => 0, -100)
  store.follow(thing(2, { t: 5, other: 1 }), () => 30, -100)
  store.follow(thing(2, { t: 5 }), () => 30, -100)
  // The update of another value leaves this one at its time.
  store.follow(thing(3, { t: 5, other: 2 }), (attr) => (attr === 't' ? 30 : 40), -100)
  t.deepEqual(store.courses.get(keyOf('a', 't')), { times: [0, 30], values: [1, 5] })
  store.follow(thing(4, { t: 6 }), () => 50, 20)
  t.deepEqual(store.courses.get(keyOf('a', 't')), { times: [30, 50], values: [5, 6] })
})

/** A feed of one entry a millisecond, `per` a page, of which every `nth` is asked for. */
const feed = (per: number, nth: number, fromMs: number, toMs: number) => (cursor?: string) => {
  const first = Number(cursor ?? fromMs)
  const scanned = Array.from({ length: per }, (_, at) => first + at).filter((at) => at < toMs)
  const next_cursor = first + per < toMs ? String(first + per) : undefined
  return Promise.resolve({ items: scanned.filter((at) => at % nth === 0), next_cursor })
}

test('a page ends where its cursor ends, not where it is short or empty', async (t) => {
  const { items, isWhole } = await readPages(feed(10, 25, 0, 60), 10)
  t.deepEqual(items, [0, 25, 50])
  t.true(isWhole)
  t.like(await readPages(feed(10, 25, 0, 60), 3), { items: [0, 25], isWhole: false })
})

test('a busy channel loses the beginning of a span, never its newest entries', async (t) => {
  const read = (sinceMs: number) => readPages(feed(10, 1, Math.floor(sinceMs), 100_000), 10)
  const busy = { spanMs: 100_000, presentMs: 100_000, wanted: 500 }
  const { items, isWhole } = await readNewest(read, busy)
  t.is(items.at(-1), 99_999)
  t.false(isWhole)
  const calm = await readNewest(read, { spanMs: 50, presentMs: 100_000, wanted: 500 })
  t.deepEqual([calm.items[0], calm.items.length, calm.isWhole], [99_950, 50, true])
})

const ADDRESSES: readonly (readonly [
  asked: Readonly<Record<string, string>>,
  lengthMs: number,
  toMs: number | undefined,
])[] = [
  [{}, 24 * HOUR_MS, undefined],
  [{ from: '-1h' }, HOUR_MS, undefined],
  [{ from: '-90m' }, 1.5 * HOUR_MS, undefined],
  [{ from: '-1s' }, 60_000, undefined],
  [{ from: '2026-05-01T10:00:00Z', to: '2026-05-01T12:00:00Z' }, 2 * HOUR_MS, NOW_MS],
  [{ from: '2026-05-01T12:00:00Z', to: '2026-05-01T10:00:00Z' }, 24 * HOUR_MS, undefined],
  [{ from: 'yesterday', to: 'now' }, 24 * HOUR_MS, undefined],
]

for (const [asked, lengthMs, toMs] of ADDRESSES) {
  test(`the address ${JSON.stringify(asked)} shows ${lengthMs / HOUR_MS} h`, (t) => {
    const span = spanIn(asked)
    t.deepEqual(span, toMs === undefined ? { ...span, lengthMs } : { lengthMs, toMs })
    t.is(span.toMs, toMs)
    t.like(spanIn(queryFor(span)), span)
  })
}

test('1 hour is the last hour, and the axis is the span', (t) => {
  t.is(beginningOf(spanIn({ from: '-1h' }), NOW_MS), NOW_MS - HOUR_MS)
})

test('a span that is moved to the present follows it, and zooming keeps what is pointed at', (t) => {
  const earlier = panned({ lengthMs: HOUR_MS }, -0.5, NOW_MS)
  t.deepEqual(earlier, { lengthMs: HOUR_MS, toMs: NOW_MS - HOUR_MS / 2 })
  t.is(panned(earlier, 0.5, NOW_MS).toMs, undefined)
  const closer = zoomed(earlier, 0.5, 0.5, NOW_MS)
  t.is(
    beginningOf(closer, NOW_MS) + closer.lengthMs / 2,
    beginningOf(earlier, NOW_MS) + HOUR_MS / 2,
  )
  t.like(zoomed({ lengthMs: HOUR_MS }, 2, 1, NOW_MS), { lengthMs: 2 * HOUR_MS, toMs: undefined })
  t.is(zoomed(earlier, 1e-9, 0.5, NOW_MS).lengthMs, 60_000)
})

const CONDITIONS: readonly (readonly [condition: Json, limits: readonly string[]])[] = [
  [{ attr: 't', above: 5 }, ['above 5']],
  [{ attr: 't', outside: [1, 9] }, ['below 1', 'above 9']],
  [
    { any: [{ attr: 't', below: 2 }, { not: { attr: 't', inside: [3, 4] } }] },
    ['below 2', 'above 3', 'below 4'],
  ],
  [{ attr: 'other', above: 5 }, []],
  [{ attr: 't', equals: 5 }, []],
  [{ silent: '1m' }, []],
]

for (const [condition, limits] of CONDITIONS) {
  test(`the limits in ${JSON.stringify(condition)} are ${limits.join(', ')}`, (t) => {
    t.deepEqual(
      limitsIn(condition, 't').map(({ side, value }) => `${side} ${value}`),
      limits,
    )
  })
}

test('overlays come back from the address, and what is none is left out', (t) => {
  const overlays = [{ attr: 't', thingId: 'b', other: 't' }]
  t.deepEqual(overlaysIn({ with: queryForOverlays(overlays) }), overlays)
  t.is(queryForOverlays([]), '')
  for (const text of ['', 'x', '{}', '[["a"]]', '[["a",1,"b"]]']) {
    t.deepEqual(overlaysIn({ with: text }), [])
  }
})

const entry = (acceptedAt: number, payload: FeedRecord['payload']): FeedRecord =>
  ({ accepted_at: acceptedAt, payload }) as FeedRecord

test('a way has its places in the order of their observation, north up', (t) => {
  const places = placesIn([
    entry(30, { observed_at: 20, location_value: '52.5,13.5' }),
    entry(40, { observed_at: 10, location_value: '52.4, 13.4' }),
    entry(50, { location_value: 'warehouse/3' }),
    entry(60, { title: 'elsewhere' }),
  ])
  t.deepEqual(
    places.map(({ time }) => time),
    [10, 20],
  )
  const { at, metres } = drawingOf(places, 640, 300)
  const [[west, south] = [0, 0], [east, north] = [0, 0]] = places.map((place) => at(place))
  t.true(west < east && north < south)
  t.true(Math.abs(metres * (south - north) - 11_132) < 1)
  t.is(placeIn('91,0', 0), undefined)
  t.is(placeIn('0,181', 0), undefined)
  t.deepEqual(
    drawingOf([{ time: 0, latitude: 52, longitude: 13 }], 640, 300).at({
      time: 0,
      latitude: 52,
      longitude: 13,
    }),
    [320, 150],
  )
  t.is(scaleLength(10, 120), 1_000)
})
