// Goal: a subscriber of the topic style may use a WebSocket.

import test from 'ava'

import { TOPIC, WRONG_TOPIC } from '#test/support/compatibility-rig'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { rawRequest } from '#test/support/raw-request'
import { Subscriber, messageOf, publish, startTopics } from '#test/support/topic-subscribers'
import { until } from '#test/support/until'

test('a WebSocket gets one object in each frame: kept entries, then new ones', async (t) => {
  const rig = await startTopics(t)
  const subscriber = new Subscriber(t, rig, `${TOPIC}/ws?since=all`)
  await subscriber.until(4)
  t.like(subscriber.frames[0], { event: 'open', topic: `${CHANNEL}:***` })
  t.like(subscriber.frames[1], { event: 'message', message: 'first\nline', priority: 5 })
  const next = publish(rig, 8, { title: 'T8', body: 'new' })
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
  const rig = await startTopics(t)
  const subscriber = new Subscriber(t, rig, `${TOPIC}/ws?poll=1`)
  const { code } = await subscriber.closed
  t.is(code, 1001)
  t.deepEqual(subscriber.titles(), ['T1', 'T2', 'T3'])
})

test('a WebSocket ends with another password, and with the gateway', async (t) => {
  const rig = await startTopics(t)
  const first = new Subscriber(t, rig, `${TOPIC}/ws`)
  await first.until(1)
  const other = 'another one'
  await rig.post('/channel/password', { ...CREDENTIALS, new_password: other })
  t.is((await first.closed).code, 1001)
  const back = { ...CREDENTIALS, password: other, new_password: PASSWORD }
  await rig.post('/channel/password', back)
  const second = new Subscriber(t, rig, `${TOPIC}/ws`)
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
  const rig = await startTopics(t, { token: 'secret' })
  const ask = (line: string, headers: readonly string[]) => rawRequest(rig.port, { line, headers })
  const bearer = 'Authorization: Bearer secret'
  const wrong = `GET ${WRONG_TOPIC}/ws`
  t.like((await ask(wrong, [...HANDSHAKE, bearer])).json, { http: 404, code: 40401 })
  t.like((await ask(`GET ${TOPIC}/ws`, HANDSHAKE)).json, { http: 401, code: 40101 })
  t.like((await ask(`GET ${TOPIC}/ws?since=x`, [...HANDSHAKE, bearer])).json, { code: 40008 })
  t.like((await ask(`GET ${TOPIC}/ws`, [bearer])).json, { http: 426, code: 40016 })
  t.is(rig.bus.listening(rig.channelId), 0)
})

test('a WebSocket takes the gateway token from ?auth=, for browsers send no header', async (t) => {
  const rig = await startTopics(t, { token: 'secret' })
  const auth = Buffer.from('Bearer secret').toString('base64url')
  const subscriber = new Subscriber(t, rig, `${TOPIC}/ws?auth=${auth}`)
  await subscriber.until(1)
  t.like(subscriber.frames[0], { event: 'open' })
})

test('updates of a busy Thing wake no subscriber', async (t) => {
  const rig = await startTopics(t)
  const subscriber = new Subscriber(t, rig, `${TOPIC}/ws`)
  await subscriber.until(1)
  await until('the feed was read', () => rig.reads.queries.length === 1)
  const update = { ...messageOf(rig, 8, {}), model: 'thing', action: 'update' } as const
  rig.bus.announce([{ channelId: rig.channelId, entries: [update] }])
  publish(rig, 9, { title: 'T9' })
  await subscriber.until(2)
  t.is(rig.reads.queries.length, 2)
})
