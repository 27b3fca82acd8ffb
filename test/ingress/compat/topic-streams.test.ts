// Goal: subscribers of the topic style read a channel's feed: what is kept, and what comes.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { FeedEntry } from '#domain/feed'
import { parseMessageId, parseOperationId } from '#domain/identity'
import { compatibilityStyles } from '#src/ingress/compat/styles'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig, RigOptions } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const KEY = `${CHANNEL}:${encodeURIComponent(PASSWORD)}`
const AT = `/compat-topic/${KEY}`

const start = async (t: ExecutionContext, options: RigOptions = {}): Promise<Rig> => {
  const rig = await startIngress(t, { styles: compatibilityStyles({ keptMs: 1 }), ...options })
  rig.reads.entries = SAMPLES.map((fields, index) => entry(rig, index + 1, fields))
  return rig
}

const SAMPLES: readonly object[] = [
  { title: 'T1', body: 'first\nline', severity: 'critical', tags: ['a', 'b'] },
  { title: 'T2', body: 'second', url: 'https://example.com' },
  { title: 'T3', severity: 'low', metadata: { 'compat.topic.priority': 1 } },
]

function entry(rig: Rig, seq: number, fields: object): FeedEntry {
  const entityId = parseMessageId(String(seq).repeat(32))
  const opId = parseOperationId(`op:${seq}`)
  if (entityId === undefined || opId === undefined) throw new Error('bad fixture')
  const acceptedAt = rig.time.nowMs() - (10 - seq) * 60_000
  const payload = JSON.stringify(fields)
  const { channelId } = rig
  return { channelId, seq, opId, entityId, model: 'message', action: 'send', acceptedAt, payload }
}

const linesOf = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** The answer as text: it is more than one JSON text. */
async function read(rig: Rig, path: string): Promise<{ headers: Headers; text: string }> {
  const answer = await fetch(rig.url + path)
  return { headers: answer.headers, text: await answer.text() }
}

const titles = (text: string): readonly unknown[] => linesOf(text).map(({ title }) => title)

test('a poll gives what is kept, as the tool tells it, and ends', async (t) => {
  const rig = await start(t)
  const { headers, text } = await read(rig, `${AT}/json?poll=1`)
  t.is(headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  t.is(headers.get('referrer-policy'), 'no-referrer')
  const [first, , third] = linesOf(text)
  t.deepEqual(first, {
    id: '111111111111',
    time: Math.floor((rig.time.nowMs() - 540_000) / 1000),
    event: 'message',
    topic: `${CHANNEL}:***`,
    title: 'T1',
    message: 'first\nline',
    priority: 5,
    tags: ['a', 'b'],
  })
  t.like(third, { title: 'T3', message: 'T3', priority: 1 })
  t.is(rig.bus.listening(rig.channelId), 0)
})

const POLLS: readonly (readonly [query: string, expected: readonly string[]])[] = [
  ['since=all', ['T1', 'T2', 'T3']],
  ['since=none', []],
  ['since=latest', ['T3']],
  ['since=111111111111', ['T2', 'T3']],
  ['since=unknownid000', ['T1', 'T2', 'T3']],
  ['since=8m', ['T2', 'T3']],
  ['si=8m&title=T2', ['T2']],
  ['priority=high,5', ['T1']],
  ['priority=default', ['T2']],
  ['tags=a,b', ['T1']],
  ['tags=a,c', []],
  ['message=second', ['T2']],
]

for (const [query, expected] of POLLS) {
  test(`a poll with ${query} gives ${JSON.stringify(expected)}`, async (t) => {
    const rig = await start(t)
    t.deepEqual(titles((await read(rig, `${AT}/json?poll=true&${query}`)).text), expected)
  })
}

test('plain text and events have the forms of the tool', async (t) => {
  const rig = await start(t)
  const raw = await rig.get(`${AT}/raw?poll=1`)
  t.is(raw.text, 'first line\nsecond\nT3\n')
  const sse = await rig.get(`${AT}/sse?poll=1&since=latest`)
  t.is(sse.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.regex(sse.text, /^data: \{"id":"333333333333"[^\n]+\}\n\n$/)
})

test('a subscriber gets what comes, and a sign of life when nothing does', async (t) => {
  const rig = await start(t)
  const raw = rig.connect()
  raw.socket.write(`GET ${AT}/json HTTP/1.1\r\nhost: x\r\n\r\n`)
  t.regex(await raw.until(/"event":"open"/), /transfer-encoding: chunked/i)
  await until('the feed was read', () => rig.reads.queries.length > 0)
  const next = entry(rig, 8, { title: 'T8', body: 'new' })
  rig.reads.entries.push(next)
  rig.bus.announce([{ channelId: rig.channelId, entries: [next] }])
  t.regex(await raw.until(/"title":"T8"/), /"message":"new"/)
  t.notRegex(raw.received(), /"title":"T3"/)
  rig.time.advance(45_000)
  await raw.until(/"event":"keepalive"/)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 1)
  raw.socket.destroy()
  await until('nobody listens', () => rig.bus.listening(rig.channelId) === 0)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 0)
})

test('feed-following/2: another password ends whoever reads by the old one', async (t) => {
  const rig = await start(t)
  const raw = rig.connect()
  raw.socket.write(`GET ${AT}/json HTTP/1.1\r\nhost: x\r\n\r\n`)
  await raw.until(/"event":"open"/)
  await rig.post('/channel/password', { ...CREDENTIALS, new_password: 'another one' })
  await raw.until(/\r\n0\r\n\r\n$/)
  t.is(rig.bus.listening(rig.channelId), 0)
})

test('a subscriber is refused in the shape of the tool', async (t) => {
  const rig = await start(t)
  const wrong = await rig.get(`/compat-topic/${CHANNEL}:wrong+password/json?poll=1`)
  t.like(wrong.json, { http: 404, code: 40401 })
  t.like((await rig.get(`${AT}/json?since=yesterday`)).json, { http: 400, code: 40008 })
})

test('a key of 43 characters is told as the topic: clients tell their topics apart by it', async (t) => {
  const rig = await start(t)
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key } = made.json['data'] as { readonly key: string }
  const { text } = await rig.get(`/compat-topic/${key}/json?poll=1&since=latest`)
  t.is(linesOf(text)[0]?.['topic'], key)
})
