// Goal: subscribers of the topic style read a channel's feed: kept messages, and new ones.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { PATH_KEY, TOPIC, WRONG_TOPIC } from '#test/support/compatibility-rig'
import { CHANNEL, CREDENTIALS } from '#test/support/making'
import type { Raw, Rig } from '#test/support/start-ingress'
import {
  linesOf,
  messageOf,
  publish,
  read,
  startTopics,
  titles,
} from '#test/support/topic-subscribers'
import { until } from '#test/support/until'

test("a poll gives the kept messages in the tool's form, and ends", async (t) => {
  const rig = await startTopics(t)
  const { headers, text } = await read(rig, `${TOPIC}/json?poll=1`)
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

test('actions come back as the tool writes them; those of no known form do not', async (t) => {
  const rig = await startTopics(t)
  const sent = ['view, Open, https://a.example', '[{"action":"broadcast","label":"B","n":1}]', '[{']
  sent.forEach((actions, at) =>
    publish(rig, 4 + at, { title: 'T', metadata: { 'compat.topic.actions': actions } }),
  )
  const read3 = linesOf((await read(rig, `${TOPIC}/json?poll=1&title=T`)).text)
  t.deepEqual(
    read3.map(({ actions }) => actions),
    [
      [
        {
          id: '44444444440',
          clear: false,
          action: 'view',
          label: 'Open',
          url: 'https://a.example',
        },
      ],
      [{ id: '55555555550', clear: false, action: 'broadcast', label: 'B', n: 1 }],
      undefined,
    ],
  )
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
    const rig = await startTopics(t)
    t.deepEqual(titles((await read(rig, `${TOPIC}/json?poll=true&${query}`)).text), expected)
  })
}

test('plain text and events have the forms of the tool', async (t) => {
  const rig = await startTopics(t)
  const raw = await rig.get(`${TOPIC}/raw?poll=1`)
  t.is(raw.text, 'first line\nsecond\nT3\n')
  const sse = await rig.get(`${TOPIC}/sse?poll=1&since=latest`)
  t.is(sse.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.regex(sse.text, /^data: \{"id":"333333333333"[^\n]+\}\n\n$/)
})

test('follower/1: a subscriber gets new messages, and in quiet times lost ones or a sign of life', async (t) => {
  const rig = await startTopics(t)
  const raw = rig.connect()
  raw.socket.write(`GET ${TOPIC}/json HTTP/1.1\r\nhost: x\r\n\r\n`)
  t.regex(await raw.until(/"event":"open"/), /transfer-encoding: chunked/i)
  await until('the feed was read', () => rig.reads.queries.length > 0)
  publish(rig, 8, { title: 'T8', body: 'new' })
  t.regex(await raw.until(/"title":"T8"/), /"message":"new"/)
  t.notRegex(raw.received(), /"title":"T3"/)
  rig.reads.entries.push(messageOf(rig, 9, { title: 'T9' })) // Its announcement is lost.
  rig.time.advance(45_000)
  await raw.until(/"title":"T9"/)
  rig.time.advance(45_000)
  await raw.until(/"event":"keepalive"/)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 1)
  raw.socket.destroy()
  await until('nobody listens', () => rig.bus.listening(rig.channelId) === 0)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 0)
})

/** A subscriber that reads the channel with a key, and the removal of the key. */
async function startWithKey(t: ExecutionContext) {
  const rig = await startTopics(t)
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key, key_id: keyId } = made.json['data'] as Readonly<Record<string, string>>
  const open = (topic = String(key)): Raw => {
    const raw = rig.connect()
    raw.socket.write(`GET /compat-topic/${topic}/json HTTP/1.1\r\nhost: x\r\n\r\n`)
    return raw
  }
  const revoke = () => rig.channelKeys.revoke(rig.channelId, String(keyId))
  return { rig, open, revoke, keyId }
}

test('feed-following/2: a new password ends who follows with the old one', async (t) => {
  const { rig, open } = await startWithKey(t)
  const raw = open(PATH_KEY)
  await raw.until(/"event":"open"/)
  await rig.post('/channel/password', { ...CREDENTIALS, new_password: 'another one' })
  await raw.until(/\r\n0\r\n\r\n$/)
  t.is(rig.bus.listening(rig.channelId), 0)
})

test('feed-following/2: a revoked key ends who follows with it, and nobody else', async (t) => {
  const { rig, open, keyId } = await startWithKey(t)
  const [withKey, withPassword] = [open(), open(PATH_KEY)]
  await withKey.until(/"event":"open"/)
  await withPassword.until(/"event":"open"/)
  await rig.post('/channel/key/revoke', { ...CREDENTIALS, key_id: keyId })
  await withKey.until(/\r\n0\r\n\r\n$/)
  publish(rig, 8, { title: 'T8' })
  t.regex(await withPassword.until(/"title":"T8"/), /"title":"T8"/)
  t.is(rig.bus.listening(rig.channelId), 1)
})

const LOST: readonly (readonly [when: string, pass: (rig: Rig) => void])[] = [
  // A key that is known is compared with the store once a minute. (kept-answers/3)
  [
    'soon when notices may be lost',
    ({ time, acceptance }) => {
      acceptance.recheck()
      time.advance(2_000)
    },
  ],
]

for (const [when, pass] of LOST) {
  test(`follower/2, feed-following/2: a key that was revoked without a notice ends its follower ${when}`, async (t) => {
    const { rig, open, revoke } = await startWithKey(t)
    const raw = open()
    await raw.until(/"event":"open"/)
    await until('the feed was read', () => rig.reads.queries.length > 0)
    await revoke()
    pass(rig)
    t.notRegex(await raw.until(/\r\n0\r\n\r\n$/), /keepalive/)
  })
}

test('a password that changes between its check and the following opens nothing', async (t) => {
  const rig = await startTopics(t)
  const info = rig.channels.info.bind(rig.channels)
  rig.channels.info = async (channelId) => {
    rig.channels.info = info
    const found = await info(channelId)
    await rig.post('/channel/password', { ...CREDENTIALS, new_password: 'another one' })
    return found
  }
  const raw = rig.connect()
  raw.socket.write(`GET ${TOPIC}/json?since=all HTTP/1.1\r\nhost: x\r\n\r\n`)
  t.notRegex(await raw.until(/\r\n0\r\n\r\n$/), /event/)
})

test('feed-following/1: an address reads 100 channels at a time; the next one is refused', async (t) => {
  const rig = await startTopics(t)
  const raw = rig.connect()
  const line = `GET ${TOPIC}/json HTTP/1.1\r\nhost: x\r\n\r\n`
  const streams = Array.from({ length: 100 }, () => rig.connect())
  for (const { socket } of streams) socket.write(line)
  await until('all of them read', () => rig.meter.gauges.get('feed_streams')?.() === 100)
  raw.socket.write(line)
  t.regex(await raw.until(/42901/), /^HTTP\/1.1 429/)
  streams[0]?.socket.destroy()
  await until('one has left', () => rig.meter.gauges.get('feed_streams')?.() === 99)
  raw.socket.write(line)
  await raw.until(/"event":"open"/)
})

for (const end of ['revocation', 'expiry'] as const) {
  test(`feed-following/2: the ${end} of a key ends followers that it opened, and no other`, async (t) => {
    const rig = await startTopics(t)
    const expires_at = rig.time.nowMs() + 100_000_000
    const made = await rig.post('/channel/key', { ...CREDENTIALS, expires_at })
    const { key, key_id } = made.json['data'] as { readonly key: string; readonly key_id: string }
    const [byKey, byPassword] = [rig.connect(), rig.connect()]
    byKey.socket.write(`GET /compat-topic/${key}/json HTTP/1.1\r\nhost: x\r\n\r\n`)
    byPassword.socket.write(`GET ${TOPIC}/json HTTP/1.1\r\nhost: x\r\n\r\n`)
    for (const raw of [byKey, byPassword]) await raw.until(/"event":"open"/)
    if (end === 'revocation') await rig.post('/channel/key/revoke', { ...CREDENTIALS, key_id })
    else for (let hour = 0; hour < 28; hour += 1) rig.time.advance(3_600_000)
    await byKey.until(/\r\n0\r\n\r\n$/)
    t.is(rig.bus.listening(rig.channelId), 1)
  })
}

test('a subscriber is refused in the shape of the tool', async (t) => {
  const rig = await startTopics(t)
  const wrong = await rig.get(`${WRONG_TOPIC}/json?poll=1`)
  t.like(wrong.json, { http: 404, code: 40401 })
  t.like((await rig.get(`${TOPIC}/json?since=yesterday`)).json, { http: 400, code: 40008 })
})

test('an answer names a key of 43 characters as the topic: clients tell their topics apart by it', async (t) => {
  const rig = await startTopics(t)
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key } = made.json['data'] as { readonly key: string }
  const { text } = await rig.get(`/compat-topic/${key}/json?poll=1&since=latest`)
  t.is(linesOf(text)[0]?.['topic'], key)
})
