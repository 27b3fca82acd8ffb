// Goal: the route of series: what it refuses, who may read, and what it says of its answer.
// Method: requests over a socket; the numbers themselves are tested beside the store.

import test from 'ava'

import { PERIOD_MS, TIER_MS } from '#domain/history/series'
import type { Tier } from '#domain/history/series'
import { CHANNEL, CREDENTIALS, NOW_MS } from '#test/support/making'
import { addChannel, startIngress } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'

const PATH = '/thing/series'
const DAY = TIER_MS['1d']
const FROM = NOW_MS - DAY
const PUMP = { thing_id: 'pump', from: FROM }
const OTHER = 'ZYXWVTSRQPNMKJHGFEDCBA9870'

type Sent = Readonly<Record<string, unknown>>

const dataOf = ({ json }: Answered): Sent => json['data'] as Sent
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`)
const several = (count: number) => ({ thing_ids: names(count), attrs: ['t'], from: FROM })

const REFUSED: readonly (readonly [title: string, body: object, says: RegExp])[] = [
  ['an unknown step', { ...PUMP, step: '10m' }, /step.*must be one of raw, 5m, 1h, 1d, auto/],
  ['21 Things', several(21), /thing_ids.*at most 20/],
  ['Things without an attr', { ...several(2), attrs: [] }, /attrs must name one attr/],
  ['Things with two attrs', { ...several(2), attrs: ['t', 'u'] }, /attrs must name one attr/],
  ['a Thing and Things', { ...several(2), ...PUMP }, /thing_id.*together with thing_ids/],
  ['no Thing', { from: FROM }, /thing_id.*thing_ids must be sent/],
  ['a name that no Thing has', { ...PUMP, thing_id: 'a b' }, /thing_id/],
  ['one of them', { ...several(1), thing_ids: ['a', 'b c'] }, /thing_ids/],
  ['65 attrs', { ...PUMP, attrs: names(65) }, /attrs must.*at most 64/],
  ['no beginning', { thing_id: 'pump' }, /from/],
  ['a beginning that is no time', { ...PUMP, from: 'noon' }, /from/],
  ['an end before the beginning', { ...PUMP, to: FROM - 1 }, /from must be earlier than to/],
  ['an end at the beginning', { ...PUMP, to: FROM }, /from must be earlier than to/],
]

for (const [title, body, says] of REFUSED) {
  test(`series with ${title} are refused with what is wrong`, async (t) => {
    const rig = await startIngress(t)
    const refused = await rig.post(PATH, { ...CREDENTIALS, ...body })
    t.is(refused.status, 400, refused.text)
    t.regex(refused.text, says)
    t.deepEqual(rig.series.queries, [])
  })
}

const ACCEPTED: readonly (readonly [title: string, body: object, reads: number])[] = [
  ['20 Things', several(20), 20],
  ['a Thing that is named twice', { ...several(1), thing_ids: ['a', 'a'] }, 1],
  ['64 attrs', { ...PUMP, attrs: names(64) }, 1],
  ['an attr whose name is empty', { ...PUMP, attrs: [''] }, 1],
  ['an attr of several Things whose name is empty', { ...several(2), attrs: [''] }, 2],
  ['a member that nobody knows', { ...PUMP, colour: 'red' }, 1],
  ['an end right behind the beginning', { ...PUMP, to: FROM + 1 }, 1],
]

for (const [title, body, reads] of ACCEPTED) {
  test(`series with ${title} are given`, async (t) => {
    const rig = await startIngress(t)
    const { status, text } = await rig.post(PATH, { ...CREDENTIALS, ...body })
    t.is(status, 200, text)
    t.is(rig.series.queries.length, reads)
  })
}

const columns = {
  times: [FROM],
  min: [1],
  max: [3],
  mean: [2],
  last: [3],
  count: [2],
}

test('a Thing has its series by attr, and several have theirs by id', async (t) => {
  const rig = await startIngress(t)
  rig.series.found = { attrs: { t: columns } }
  const one = dataOf(await rig.post(PATH, { ...CREDENTIALS, ...PUMP, step: '5m' }))
  t.deepEqual(one, { step: '5m', from: FROM, to: NOW_MS, complete: true, attrs: { t: columns } })
  const two = dataOf(await rig.post(PATH, { ...CREDENTIALS, ...several(2), step: '5m' }))
  t.deepEqual(two['things'], { n0: columns, n1: columns })
  t.false('attrs' in two)
})

const WIDTH = TIER_MS['5m']

/** Columns with a point at each of these times. */
const pointsAt = (times: readonly number[]) => ({
  times,
  min: times,
  max: times,
  mean: times,
  last: times,
  count: times,
})

test('several Things have points of the times that all of them have in common, and no others', async (t) => {
  const rig = await startIngress(t)
  const first = FROM - (FROM % WIDTH)
  const times = Array.from({ length: 10 }, (_, at) => first + at * WIDTH)
  const [low = 0, high = 0] = [times[3], times[7]]
  const bounds: Readonly<Record<string, object>> = {
    n1: { wholeFrom: low },
    n2: { wholeTo: high },
    n3: { attrs: {} },
    n4: { attrs: { t: pointsAt(times.slice(8)) } },
  }
  rig.series.series = async ({ thingId }) => ({
    attrs: { t: pointsAt(times) },
    ...bounds[thingId],
  })
  const ask = async (body: object) => dataOf(await rig.post(PATH, { ...CREDENTIALS, ...body }))
  const common = { from: low, to: high, complete: false }
  const within = pointsAt(times.slice(3, 7))
  t.deepEqual(await ask({ ...several(5), step: '5m' }), {
    step: '5m',
    ...common,
    things: { n0: within, n1: within, n2: within },
  })
  // The first bucket begins before the times that are asked for.
  const whole = await ask({ ...several(1), from: FROM + 1, step: '5m' })
  t.deepEqual(whole['things'], { n0: pointsAt(times) })
  rig.series.series = async ({ thingId }) => ({
    attrs: { t: { times, values: times } },
    ...(thingId === 'n1' && { wholeTo: high + 1 }),
  })
  const raw = await ask({ ...several(2), from: low, step: 'raw' })
  const values = times.slice(3, 8)
  t.deepEqual(raw['things'], { n0: { times: values, values }, n1: { times: values, values } })
})

/** Steps that auto takes, over times that end now. */
const AUTO: readonly (readonly [days: number, step: string, complete: boolean])[] = [
  [1, '5m', true],
  [3, '5m', true],
  [4, '1h', true],
  [41, '1h', true],
  [42, '1d', true],
  [999, '1d', true],
]

for (const [days, step, complete] of AUTO) {
  test(`auto gives ${step} over ${days} days`, async (t) => {
    const rig = await startIngress(t)
    const from = NOW_MS - days * DAY
    const answer = dataOf(await rig.post(PATH, { ...CREDENTIALS, thing_id: 'pump', from }))
    t.like(answer, { step, complete, from })
    t.deepEqual(
      rig.series.queries.map((query): string => query.step),
      [step],
    )
  })
}

// Method: where an end lies within a bucket, the buckets of both ends are points.
const BOUNDED: readonly (readonly [buckets: number, of: Tier, step: Tier, complete: boolean])[] = [
  [999, '5m', '5m', true],
  [1_000, '5m', '1h', true],
  [999, '1d', '1d', true],
  [1_000, '1d', '1d', false],
]

for (const [buckets, of, step, complete] of BOUNDED) {
  test(`auto gives at most 1,000 points where ${buckets} times ${of} end within a bucket`, async (t) => {
    const rig = await startIngress(t)
    const to = NOW_MS - (NOW_MS % TIER_MS[of]) + 1_000
    const body = { thing_id: 'pump', from: to - buckets * TIER_MS[of], to }
    const answer = dataOf(await rig.post(PATH, { ...CREDENTIALS, ...body }))
    t.like(answer, { step, complete })
    const width = TIER_MS[step]
    const points = Math.ceil(to / width) - Math.floor(Number(answer['from']) / width)
    t.true(points <= 1_000, `${points} points`)
  })
}

test('complete is false where retention took a part, and where the rest was too much', async (t) => {
  const rig = await startIngress(t)
  const ask = async (from: number, step: string) =>
    dataOf(await rig.post(PATH, { ...CREDENTIALS, thing_id: 'pump', from, step }))
  const kept = Math.floor((NOW_MS - 7 * DAY) / PERIOD_MS['5m']) * PERIOD_MS['5m']
  t.like(await ask(kept, '5m'), { complete: true, from: kept })
  t.like(await ask(kept - 1, '5m'), { complete: false, from: kept })
  t.like(await ask(NOW_MS - DAY, 'raw'), { complete: true })
  t.like(await ask(NOW_MS - DAY - 1, 'raw'), { complete: false, from: NOW_MS - DAY })
  rig.series.found = { attrs: {}, wholeFrom: FROM + 5, wholeTo: NOW_MS - 5 }
  t.like(await ask(FROM, '5m'), { complete: false, from: FROM + 5, to: NOW_MS - 5 })
  rig.series.found = { attrs: {}, isPartial: true }
  t.like(await ask(FROM, 'raw'), { complete: false, from: FROM, to: NOW_MS })
})

test('raw has late readings of every time that is asked for, however early: their updates are kept', async (t) => {
  const rig = await startIngress(t)
  const from = NOW_MS - 30 * DAY
  const t1 = { times: [from + 5], values: [1] }
  rig.series.found = { attrs: { t: t1 } }
  const ask = async (body: object) =>
    dataOf(await rig.post(PATH, { ...CREDENTIALS, ...body, from, step: 'raw' }))
  const one = await ask(PUMP)
  t.like(one, { from: NOW_MS - DAY, to: NOW_MS, complete: false, attrs: { t: t1 } })
  t.deepEqual((await ask(several(1)))['things'], { n0: t1 })
  t.deepEqual(
    rig.series.queries.map((query) => query.from),
    [from, from],
  )
  // More than a read takes: another request gets on.
  const to = NOW_MS - 20 * DAY
  rig.series.found = { attrs: { t: t1 }, wholeTo: to }
  t.like(await ask(PUMP), { from, to, complete: false })
})

test('series of times that are all past their retention are empty, whatever is not removed yet', async (t) => {
  const rig = await startIngress(t)
  rig.series.found = { attrs: { t: columns } }
  const [from, to] = [NOW_MS - 30 * DAY, NOW_MS - 20 * DAY]
  const answer = await rig.post(PATH, { ...CREDENTIALS, ...PUMP, from, to, step: '5m' })
  t.deepEqual(dataOf(answer), { step: '5m', from: to, to, complete: false, attrs: {} })
})

async function keyOf(rig: Rig, rights: object): Promise<string> {
  const made = await rig.post('/channel/key', { ...CREDENTIALS, ...rights })
  return String(dataOf(made)['key'])
}

test('a key that expired reads no series, and neither does a device of another channel', async (t) => {
  const rig = await startIngress(t)
  const password = await keyOf(rig, { scopes: ['read'], expires_at: NOW_MS + 1_000 })
  const ask = (reader: object) => rig.post(PATH, { ...PUMP, ...reader })
  t.is((await ask({ password })).status, 200)
  rig.time.advance(1_000)
  t.like(await ask({ password }), { status: 403, json: { error_code: 'key_expired' } })
  await addChannel(rig.channels, OTHER, 'another password')
  const { device_key } = dataOf(await rig.post('/device/register', { platform: 'web' }))
  await rig.post('/channel/subscribe', {
    channel_id: OTHER,
    password: 'another password',
    device_key,
  })
  t.is((await ask({ channel_id: OTHER, device_key })).status, 200)
  t.is((await ask({ channel_id: CHANNEL, device_key })).status, 404)
  t.is(rig.series.queries.length, 2)
})
