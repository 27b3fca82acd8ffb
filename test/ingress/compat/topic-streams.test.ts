// Goal: subscribers of the topic style read a channel's feed: what is kept, and what comes.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { FeedEntry } from '#domain/feed'
import { parseMessageId, parseOperationId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { PATH_KEY, startStyles } from '#test/support/compatibility-rig'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { rawRequest } from '#test/support/raw-request'
import { addChannel } from '#test/support/start-ingress'
import type { Rig, RigOptions } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const AT = `/compat-topic/${PATH_KEY}`

const start = async (t: ExecutionContext, options: RigOptions = {}): Promise<Rig> => {
  const rig = await startStyles(t, options)
  rig.reads.entries = SAMPLES.map((fields, index) => entry(rig, index + 1, fields))
  return rig
}

const SAMPLES: readonly object[] = [
  { title: 'T1', body: 'first\nline', severity: 'critical', tags: ['a', 'b'] },
  { title: 'T2', body: 'second', url: 'https://example.com' },
  { title: 'T3', severity: 'low', metadata: { 'compat.topic.priority': 1 } },
]

function entry(
  rig: Rig,
  seq: number,
  fields: object,
  channelId: ChannelId = rig.channelId,
): FeedEntry {
  const entityId = parseMessageId(String(seq).repeat(32))
  const opId = parseOperationId(`op:${seq}`)
  if (entityId === undefined || opId === undefined) throw new Error('bad fixture')
  const acceptedAt = rig.time.nowMs() - (10 - seq) * 60_000
  const payload = JSON.stringify(fields)
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

test("a poll gives the kept messages in the tool's form, and ends", async (t) => {
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

test('a subscriber gets new messages, and a sign of life in quiet times', async (t) => {
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

test('feed-following/2: a new password ends followers with the old one', async (t) => {
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

test('an answer names a key of 43 characters as the topic: clients tell their topics apart by it', async (t) => {
  const rig = await start(t)
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key } = made.json['data'] as { readonly key: string }
  const { text } = await rig.get(`/compat-topic/${key}/json?poll=1&since=latest`)
  t.is(linesOf(text)[0]?.['topic'], key)
})

/** A WebSocket and the frames that it got. */
class Subscriber {
  readonly frames: Readonly<Record<string, unknown>>[] = []
  readonly socket: WebSocket
  readonly closed: Promise<{ readonly code: number }>

  constructor(t: ExecutionContext, rig: Rig, path: string) {
    this.socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`)
    this.socket.addEventListener('message', ({ data }) => {
      this.frames.push(JSON.parse(String(data)) as Record<string, unknown>)
    })
    this.closed = new Promise((resolve) => this.socket.addEventListener('close', resolve))
    t.teardown(() => this.socket.close())
  }

  titles(): readonly unknown[] {
    return this.frames.filter(({ event }) => event === 'message').map(({ title }) => title)
  }

  until(count: number): Promise<void> {
    return until(`${count} frames`, () => this.frames.length >= count)
  }
}

test('a WebSocket gets one object in each frame: kept entries, then new ones', async (t) => {
  const rig = await start(t)
  const subscriber = new Subscriber(t, rig, `${AT}/ws?since=all`)
  await subscriber.until(4)
  t.like(subscriber.frames[0], { event: 'open', topic: `${CHANNEL}:***` })
  t.like(subscriber.frames[1], { event: 'message', message: 'first\nline', priority: 5 })
  const next = entry(rig, 8, { title: 'T8', body: 'new' })
  rig.reads.entries.push(next)
  rig.bus.announce([{ channelId: rig.channelId, entries: [next] }])
  await subscriber.until(5)
  t.deepEqual(subscriber.titles(), ['T1', 'T2', 'T3', 'T8'])
  // Pings are the sign of life here.
  rig.time.advance(45_000)
  rig.bus.announce([{ channelId: rig.channelId, entries: [next] }])
  await until('the feed was read again', () => rig.reads.queries.length > 3)
  t.is(subscriber.frames.length, 5)
  t.is(rig.meter.gauges.get('http_connections')?.(), 0)
  subscriber.socket.close()
  await until('nobody listens', () => rig.bus.listening(rig.channelId) === 0)
})

test('a poll over a WebSocket ends it once everything is sent', async (t) => {
  const rig = await start(t)
  const subscriber = new Subscriber(t, rig, `${AT}/ws?poll=1`)
  const { code } = await subscriber.closed
  t.is(code, 1001)
  t.deepEqual(subscriber.titles(), ['T1', 'T2', 'T3'])
})

test('a WebSocket ends with another password, and with the gateway', async (t) => {
  const rig = await start(t)
  const first = new Subscriber(t, rig, `${AT}/ws`)
  await first.until(1)
  await rig.post('/channel/password', { ...CREDENTIALS, new_password: PASSWORD })
  t.is((await first.closed).code, 1001)
  const second = new Subscriber(t, rig, `${AT}/ws`)
  await second.until(1)
  await rig.ingress.drain()
  t.is((await second.closed).code, 1001)
})

const HANDSHAKE = [
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

test('a WebSocket is refused in the shape of the tool, and so is a request that asks for none', async (t) => {
  const rig = await start(t, { token: 'secret' })
  const ask = (line: string, headers: readonly string[]) => rawRequest(rig.port, { line, headers })
  const bearer = 'Authorization: Bearer secret'
  const wrong = `GET /compat-topic/${CHANNEL}:wrong+password/ws`
  t.like((await ask(wrong, [...HANDSHAKE, bearer])).json, { http: 404, code: 40401 })
  t.like((await ask(`GET ${AT}/ws`, HANDSHAKE)).json, { http: 401, code: 40101 })
  t.like((await ask(`GET ${AT}/ws?since=x`, [...HANDSHAKE, bearer])).json, { code: 40008 })
  t.like((await ask(`GET ${AT}/ws`, [bearer])).json, { http: 426, code: 40016 })
  t.is(rig.bus.listening(rig.channelId), 0)
})

test('a WebSocket takes the gateway token from ?auth=, for browsers send no header', async (t) => {
  const rig = await start(t, { token: 'secret' })
  const auth = Buffer.from('Bearer secret').toString('base64url')
  const subscriber = new Subscriber(t, rig, `${AT}/ws?auth=${auth}`)
  await subscriber.until(1)
  t.like(subscriber.frames[0], { event: 'open' })
})

const OTHER = '3GJ8R2Z6WQ9XKM5T7YB1NC4HDG'
const OTHER_PASSWORD = 'one, two and three'

/** Messages of two channels, whose times alternate. */
async function startTwo(t: ExecutionContext, options: RigOptions = {}) {
  const rig = await start(t, options)
  const other = await addChannel(rig.channels, OTHER, OTHER_PASSWORD)
  rig.reads.entries.push(
    { ...entry(rig, 1, { title: 'O1' }, other), acceptedAt: rig.time.nowMs() - 510_000 },
    { ...entry(rig, 2, { title: 'O2' }, other), acceptedAt: rig.time.nowMs() - 60_000 },
  )
  return { rig, other, both: `${PATH_KEY},${OTHER}:${encodeURIComponent(OTHER_PASSWORD)}` }
}

test('several keys with commas are read together, in the order of their times', async (t) => {
  const { rig, both } = await startTwo(t)
  const { text } = await read(rig, `/compat-topic/${both}/json?poll=1`)
  t.deepEqual(titles(text), ['T1', 'O1', 'T2', 'T3', 'O2'])
  const [first, second] = linesOf(text)
  t.is(first?.['topic'], `${CHANNEL}:***`)
  t.is(second?.['topic'], `${OTHER}:***`)
  const latest = await read(rig, `/compat-topic/${both}/json?poll=1&since=latest`)
  t.deepEqual(titles(latest.text), ['T3', 'O2'])
})

test('a subscriber of several channels hears of each, and leaves all', async (t) => {
  const { rig, other, both } = await startTwo(t)
  const subscriber = new Subscriber(t, rig, `/compat-topic/${both}/ws`)
  await subscriber.until(1)
  t.is(subscriber.frames[0]?.['topic'], `${CHANNEL}:***,${OTHER}:***`)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 2)
  for (const [seq, title, channelId] of [
    [8, 'O8', other],
    [8, 'T8', rig.channelId],
  ] as const) {
    const next = entry(rig, seq, { title }, channelId)
    rig.reads.entries.push(next)
    rig.bus.announce([{ channelId, entries: [next] }])
    await until(title, () => subscriber.titles().includes(title))
  }
  t.deepEqual(subscriber.titles(), ['O8', 'T8'])
  subscriber.socket.close()
  await until('nobody listens', () => rig.bus.listening(other) === 0)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 0)
})

test('one wrong key of several refuses them all, and each counts in the password budget', async (t) => {
  const { rig, both } = await startTwo(t)
  const wrong = await read(rig, `/compat-topic/${both},${CHANNEL}:wrong+password/json?poll=1`)
  t.like(JSON.parse(wrong.text), { code: 40401 })
  t.deepEqual((await rig.get(`/compat-topic/${both}/auth`)).json, { success: true })
  const many = Array<string>(51).fill(PATH_KEY).join(',')
  t.like((await rig.get(`/compat-topic/${many}/json?poll=1`)).json, { http: 400, code: 40009 })
  const poor = await startTwo(t, { passwordBudget: { perAddress: 1, total: 100 } })
  const refused = await poor.rig.get(`/compat-topic/${poor.both}/json?poll=1`)
  t.like(refused.json, { http: 429, code: 42901 })
})

test('updates of a busy Thing wake no subscriber', async (t) => {
  const rig = await start(t)
  const subscriber = new Subscriber(t, rig, `${AT}/ws`)
  await subscriber.until(1)
  await until('the feed was read', () => rig.reads.queries.length === 1)
  const update = { ...entry(rig, 8, {}), model: 'thing', action: 'update' } as const
  rig.bus.announce([{ channelId: rig.channelId, entries: [update] }])
  const next = entry(rig, 9, { title: 'T9' })
  rig.reads.entries.push(next)
  rig.bus.announce([{ channelId: rig.channelId, entries: [next] }])
  await subscriber.until(2)
  t.is(rig.reads.queries.length, 2)
})
