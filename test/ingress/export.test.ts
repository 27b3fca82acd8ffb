// Goal: the route of exports: who gets one, how many run, and that its last line comes in any case.
// Method: requests over a socket; the lines themselves are tested beside the stage.

import test from 'ava'

import type { FeedEntry } from '#domain/feed'
import type { EntityId } from '#domain/identity'
import type { HistoryQuery } from '#domain/history/ordered-reads'
import { CREDENTIALS, CHANNEL, NOW_MS } from '#test/support/making'
import { thingOf } from '#test/support/thing-queries'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'
import { opId } from '#test/support/submissions'
import { until } from '#test/support/until'

const PATH = '/channel/export'
const EXPORTS = 2

const entries = ({ channelId }: Rig, count: number): FeedEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    channelId,
    seq: index + 1,
    opId: opId(`op-${index}`),
    model: 'thing',
    action: 'update',
    entityId: 'pump-1' as EntityId,
    acceptedAt: 1,
    payload: '{"attrs":{"n":1}}',
  }))

const linesIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

const running = ({ meter }: Rig): number | undefined => meter.gauges.get('channel_exports')?.()

/** Holds each read of the feed until the function is called. */
function held({ reads }: Rig): () => void {
  const read = reads.history.bind(reads)
  const { promise, resolve } = Promise.withResolvers<void>()
  reads.history = async (query: HistoryQuery) => {
    await promise
    return read(query)
  }
  return resolve
}

test('an export is a stream of lines in JSON', async (t) => {
  const rig = await startIngress(t)
  rig.reads.entries = entries(rig, 2)
  const { status, headers, text } = await rig.post(PATH, CREDENTIALS)
  t.is(status, 200)
  t.is(headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  t.is(headers.get('cache-control'), 'no-store')
  t.like(linesIn(text), [
    { kind: 'update', seq: 1, payload: { attrs: { n: 1 } } },
    { kind: 'update', seq: 2 },
    { kind: 'end', complete: true, after_seq: 2 },
  ])
})

const REFUSED: readonly (readonly [body: object, status: number, field: string])[] = [
  [{ what: [] }, 400, 'what'],
  [{ what: ['pictures'] }, 400, 'what'],
  [{ what: ['series'], step: 'raw' }, 400, 'step'],
  [{ after_series: 'pump' }, 400, 'after_series'],
  [{ after_series: 'pump 1 2' }, 400, 'after_series'],
  [{ after_series: 'ä 1' }, 400, 'after_series'],
  [{ after_seq: -1 }, 400, 'after_seq'],
  [{ after_thing: 'a b' }, 400, 'after_thing'],
  [{ thing_prefix: 'ä' }, 400, 'thing_prefix'],
  [{ from: 'yesterday' }, 400, 'from'],
  [{ to: 'tomorrow' }, 400, 'to'],
  [{ from: 1_767_225_600, to: 1_767_225_600 }, 400, 'from must be earlier than to'],
  [{ password: 'not the one' }, 404, ''],
]

for (const [body, status, field] of REFUSED) {
  test(`an export with ${JSON.stringify(body)} is refused for ${field}`, async (t) => {
    const rig = await startIngress(t)
    const refused = await rig.post(PATH, { ...CREDENTIALS, ...body })
    t.is(refused.status, status, refused.text)
    t.true(refused.text.includes(field))
    t.deepEqual(rig.reads.queries, [])
  })
}

const RIGHTS: readonly (readonly [rights: object, prefix: string | undefined, status: number])[] = [
  [{ scopes: ['read'] }, undefined, 200],
  [{ scopes: ['send'] }, undefined, 403],
  [{ thing_prefix: 'pump-' }, undefined, 200],
  [{ thing_prefix: 'pump-' }, 'pump-1', 200],
  [{ thing_prefix: 'pump-' }, 'p', 200],
  [{ thing_prefix: 'pump-' }, 'door-', 403],
]

for (const [rights, prefix, status] of RIGHTS) {
  test(`a key with ${JSON.stringify(rights)} that asks for ${prefix} gets ${status}`, async (t) => {
    const rig = await startIngress(t)
    const made = await rig.post('/channel/key', { ...CREDENTIALS, ...rights })
    const { key } = made.json['data'] as { key: string }
    const { status: got } = await rig.post(PATH, { password: key, thing_prefix: prefix })
    t.is(got, status)
    const narrowed = prefix === 'pump-1' ? prefix : 'pump-'
    if (status === 200 && 'thing_prefix' in rights) {
      t.like(rig.reads.queries[0], { thingPrefix: narrowed })
    }
  })
}

test('few-at-once/1: two exports of a channel run at once, and a further one is told so', async (t) => {
  const rig = await startIngress(t)
  const release = held(rig)
  const asked = Array.from({ length: EXPORTS }, () => rig.post(PATH, CREDENTIALS))
  await until('both run', () => running(rig) === EXPORTS)
  const refused = await rig.post(PATH, CREDENTIALS)
  t.like(refused, { status: 429, json: { error_code: 'rate_limited' } })
  t.regex(refused.text, /other exports of this channel run: at most 2 at a time/)
  release()
  for (const { status } of await Promise.all(asked)) t.is(status, 200)
  t.is(running(rig), 0)
  t.is((await rig.post(PATH, CREDENTIALS)).status, 200)
})

test('export-lines/3: a gateway that stops ends an export with its last line', async (t) => {
  const rig = await startIngress(t)
  const release = held(rig)
  const asked = rig.post(PATH, { ...CREDENTIALS, after_seq: 7 })
  await until('it runs', () => running(rig) === 1)
  const drained = rig.ingress.drain()
  release()
  const end = { kind: 'end', complete: false, after_seq: 7, error_code: 'server_busy' }
  t.deepEqual(linesIn((await asked).text), [end])
  await drained
})

const DAY = 86_400_000

/** The times of series that are read for an export at NOW_MS; undefined for none. */
const KEPT: readonly (readonly [body: object, step: string, from: number, to: number])[] = [
  [{}, '1h', NOW_MS - 407 * DAY, NOW_MS],
  [{ step: '1d', from: NOW_MS - 500 * DAY }, '1d', NOW_MS - 500 * DAY, NOW_MS],
  [{ step: '5m', from: 0, to: NOW_MS - 1 }, '5m', NOW_MS - 8 * DAY, NOW_MS - 1],
]

for (const [body, step, from, to] of KEPT) {
  test(`an export of series with ${JSON.stringify(body)} has what is kept of ${step}`, async (t) => {
    const rig = await startIngress(t)
    rig.reads.keptThings = [thingOf({ id: 'pump-1', seq: 1, attrs: { n: 1 } })]
    const columns = { times: [1], min: [1], max: [1], mean: [1], last: [1], count: [1] }
    rig.series.found = { attrs: { n: columns } }
    const { text } = await rig.post(PATH, { ...CREDENTIALS, what: ['series'], ...body })
    const [query] = rig.series.queries
    t.like(query, { thingId: 'pump-1', step, to })
    // What is kept ends with a whole period.
    t.true(Math.abs((query?.from ?? 0) - from) < 7 * DAY, String(query?.from))
    const line = { kind: 'series', thing_id: 'pump-1', step, attrs: { n: columns } }
    t.like(linesIn(text)[0], line)
    t.is(linesIn(text)[0]?.['after_series'], `pump-1 ${query?.from}`)
  })
}

test('a place among series lets nobody read a Thing that the key may not read', async (t) => {
  const rig = await startIngress(t)
  const made = await rig.post('/channel/key', { ...CREDENTIALS, thing_prefix: 'pump-' })
  const { key: password } = made.json['data'] as { key: string }
  for (const [place, reads] of [
    ['door-1', 0],
    ['pump-1', 1],
  ] as const) {
    const body = { password, what: ['series'], after_series: `${place} ${NOW_MS}` }
    t.is((await rig.post(PATH, body)).status, 200)
    t.is(rig.series.queries.length, reads, place)
  }
})

test('a reader that leaves frees its place', async (t) => {
  const rig = await startIngress(t)
  rig.reads.entries = entries(rig, 1)
  rig.reads.next = 1 // The feed has no end.
  const leaving = new AbortController()
  const body = JSON.stringify(CREDENTIALS)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(rig.url + PATH, {
    method: 'POST',
    body,
    headers,
    signal: leaving.signal,
  })
  await response.body?.getReader().read()
  leaving.abort()
  await until('the place is free', () => running(rig) === 0)
  t.pass()
})

test('a key that is revoked ends an export', async (t) => {
  const rig = await startIngress(t)
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key, key_id: keyId } = made.json['data'] as { key: string; key_id: string }
  const release = held(rig)
  const asked = rig.post(PATH, { password: key })
  await until('it runs', () => running(rig) === 1)
  await rig.post('/channel/key/revoke', { ...CREDENTIALS, key_id: keyId })
  rig.reads.entries = entries(rig, 2)
  release()
  t.like(linesIn((await asked).text), [{ kind: 'end', complete: false }])
})

test('a subscribed device gets an export, another one does not', async (t) => {
  const rig = await startIngress(t)
  const registered = await rig.post('/device/register', { platform: 'android' })
  const { device_key } = registered.json['data'] as { device_key: string }
  const body = { channel_id: CHANNEL, device_key }
  t.is((await rig.post(PATH, body)).status, 404)
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  t.like(linesIn((await rig.post(PATH, body)).text), [{ kind: 'end', complete: true }])
})
