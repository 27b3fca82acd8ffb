// Goal: the door has everything that acceptance does, and its connections live and end as said.

import test from 'ava'

import { fault } from '#domain/fault'
import { HELD_MAX, HELD_PAUSE } from '#src/mqtt/bounds'
import { addChannel } from '#test/support/acceptance-rig'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { MqttClient } from '#test/support/mqtt-client'
import { attr, publish } from '#test/support/mqtt-play'
import { addKey, mqttRig } from '#test/support/mqtt-rig'
import { turn, until } from '#test/support/until'

const busy = () => fault('server_busy', { retryAfterMs: 500 })
const fill = (bytes: number): Buffer => Buffer.alloc(bytes)

test('publishes/1: a publish is acknowledged once the log has it', async (t) => {
  const { door, sink } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  const { promise, resolve } = Promise.withResolvers<void>()
  sink.answer = () => promise.then(() => ({ kind: 'accepted' }))
  client.tell(attr(1, 7))
  await turn()
  await turn() // What is sent leaves at the end of a pass.
  t.is(client.of('puback').length, 0)
  resolve()
  t.is((await client.next('puback')).messageId, 7)
  t.like(sink.accepted[0], { model: 'thing', entityId: 'a', patch: { attrs: { t: 20 } } })
})

test('a password is wrong as over HTTP, and counts in its budget', async (t) => {
  const { door } = await mqttRig(t, { passwordBudget: { perAddress: 2, total: 100 } })
  const wrong = { password: Buffer.from('another one') }
  const answers: unknown[] = []
  for (let at = 0; at < 3; at += 1) {
    const client = await MqttClient.enter(door, {}, wrong)
    answers.push((await client.next('connack')).reasonCode)
  }
  t.deepEqual(answers, [0x86, 0x86, 0x9f])
  const four = await MqttClient.enter(door, { level: 4, address: '192.0.2.2' }, wrong)
  t.is((await four.next('connack')).returnCode, 4)
  t.true(four.isClosed)
})

test('a CONNECT that is refused before its credentials hears why in its own protocol', async (t) => {
  const { door } = await mqttRig(t)
  const five = await MqttClient.enter(door, {}, { username: '' })
  t.is((await five.next('connack')).reasonCode, 0x86)
  const four = await MqttClient.enter(door, { level: 4 }, { username: '' })
  t.is((await four.next('connack')).returnCode, 4)
})

test('publishes of a session count in no budget of passwords', async (t) => {
  const { door } = await mqttRig(t, { passwordBudget: { perAddress: 1, total: 1 } })
  const client = await MqttClient.enter(door)
  for (let id = 1; id <= 5; id += 1) client.tell(attr(1, id))
  t.is((await client.next('puback', 5)).reasonCode ?? 0, 0)
})

test('a key opens a session as user name or as password; with a gateway token nothing else does', async (t) => {
  const rig = await mqttRig(t, { token: 'a gateway token' })
  const key = await addKey(rig, { scopes: ['send'], thingPrefix: 'a' })
  const byPassword = await MqttClient.enter(rig.door)
  t.is((await byPassword.next('connack')).reasonCode, 0x87)
  for (const credentials of [
    { username: key, password: undefined },
    { username: key, password: Buffer.from('') },
    { username: CHANNEL, password: Buffer.from(key) },
    { username: CHANNEL, password: Buffer.from(`${key}\n`) },
  ]) {
    const client = await MqttClient.enter(rig.door, {}, { ...credentials, clientId: '' })
    t.is((await client.next('connack')).reasonCode, 0)
    client.tell(attr(1, 1), attr(1, 2, { topic: 'things/b/attrs/t' }))
    t.is((await client.next('puback', 2)).reasonCode, 0x87)
    t.is(client.of('puback').length, 2)
  }
  t.is(rig.sink.accepted.length, 4)
  t.false(JSON.stringify(rig.logger.lines).includes(key))
})

test('a password is trimmed first, as at every door', async (t) => {
  const { door } = await mqttRig(t)
  const client = await MqttClient.enter(door, {}, { password: Buffer.from(` ${PASSWORD}\n`) })
  t.is((await client.next('connack')).reasonCode, 0)
  client.tell(attr(1, 1))
  t.is((await client.next('puback', 1)).reasonCode ?? 0, 0)
})

test('mqtt-door/2: another password and a revoked key end their sessions, and no other', async (t) => {
  const rig = await mqttRig(t)
  const { door, bus, channels, channelKeys, channelId } = rig
  const keys = [await addKey(rig), await addKey(rig)] as const
  const enter = (key: string) =>
    MqttClient.enter(door, {}, { clientId: key, password: Buffer.from(key) })
  const [one, other, byPassword] = [
    await enter(keys[0]),
    await enter(keys[1]),
    await MqttClient.enter(door),
  ]
  const keyId = channelKeys.rows[0]?.keyId ?? ''
  await channelKeys.revoke(channelId, keyId)
  bus.notify({ kind: 'credentials-changed', channelId, keyId })
  t.is((await one.next('disconnect')).reasonCode, 0x87)
  await addChannel(channels, CHANNEL, 'another password')
  bus.notify({ kind: 'credentials-changed', channelId })
  t.is((await byPassword.next('disconnect')).reasonCode, 0x87)
  t.true((await other.next('disconnect')).reasonCode === 0x87)
})

test("topics of a channel's own are read by its mappings, from the moment they change", async (t) => {
  const { door, acceptance, sink, channelId } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  const sent = { topic: 'home/hall/lamp', payload: Buffer.from('{"w":4}') }
  client.tell(publish(1, 1, sent))
  t.is((await client.next('puback')).reasonCode, 0x90)
  const mappings = [{ topic: 'home/+room/+device', thing: '{room}-{device}' }]
  const fields = { channel_id: CHANNEL, password: PASSWORD, mappings: [] }
  const shown = await acceptance.mappings.use(fields, { receivedAtMs: 0 })
  t.like(shown, { channelId, unmapped: [{ topic: 'home/hall/lamp' }] })
  await acceptance.mappings.use({ ...fields, mappings }, { receivedAtMs: 0 })
  client.tell(publish(1, 2, sent))
  t.is((await client.next('puback', 2)).reasonCode ?? 0, 0)
  t.like(sink.accepted[0], { entityId: 'hall-lamp', patch: { attrs: { w: 4 } } })
})

test('a session whose password is no longer right ends with its next publish', async (t) => {
  const { door, acceptance, channels, channelId } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  channels.rows.delete(channelId)
  acceptance.recheck()
  client.tell(attr(1, 1))
  t.is((await client.next('puback')).reasonCode, 0x87)
  t.is((await client.next('disconnect')).reasonCode, 0x87)
})

test('mqtt-connection/4: 3.1.1 gets no acknowledgement of a publish with credentials that are over', async (t) => {
  const { door, acceptance, channels, channelId } = await mqttRig(t)
  const client = await MqttClient.enter(door, { level: 4 })
  channels.rows.delete(channelId)
  acceptance.recheck()
  client.tell(attr(1, 1))
  await until('the session is over', () => client.isClosed)
  t.deepEqual(client.of('puback'), [])
})

test('mqtt-door/1: a newer connection of a client ends the older, whose will is not published', async (t) => {
  const { door, sink, meter } = await mqttRig(t)
  const will = { topic: 'things/a/attrs/online', payload: Buffer.from('offline') }
  const older = await MqttClient.enter(door, {}, { will })
  const newer = await MqttClient.enter(door, {}, { will })
  t.is((await older.next('disconnect')).reasonCode, 0x8e)
  t.false(newer.isClosed)
  t.is(meter.gauges.get('sessions{mqtt}')?.(), 1)
  newer.vanish()
  await until('the will is there', () => sink.accepted.length > 0)
  t.like(sink.accepted, [{ patch: { attrs: { online: false } } }])
})

test('mqtt-publisher/2: 3.1.1 waits for its answer while the gateway is busy, 5 is told', async (t) => {
  const { door, sink, pass, meter } = await mqttRig(t)
  const [four, five] = [
    await MqttClient.enter(door, { level: 4 }, { clientId: 'four' }),
    await MqttClient.enter(door, {}, { clientId: 'five' }),
  ]
  sink.answer = busy
  four.tell(attr(1, 1), attr(0))
  five.tell(attr(1, 1))
  t.is((await five.next('puback')).reasonCode, 0x97)
  await until('QoS 0 is lost', () => meter.total('mqtt_lost_total') === 1)
  t.is(four.of('puback').length, 0)
  sink.answer = () => ({ kind: 'accepted' })
  pass(500)
  await four.next('puback')
  t.is(sink.accepted.length, 1)
})

test('mqtt-publisher/1: a publish that is tried again is the same submission', async (t) => {
  const { door, sink, pass } = await mqttRig(t)
  const client = await MqttClient.enter(door, { level: 4 })
  const tried: unknown[] = []
  const accept = sink.accept.bind(sink)
  sink.accept = (submission) => {
    tried.push([submission.opId, submission.entityId])
    return accept(submission)
  }
  sink.answer = () => fault('submission_outcome_unknown')
  client.tell(publish(1, 1, { topic: 'messages', payload: Buffer.from('hello') }))
  await until('it was tried', () => tried.length === 1)
  await turn()
  pass(1_000)
  await until('it was tried again', () => tried.length === 2)
  t.deepEqual(tried[0], tried[1])
})

test('mqtt-connection/1: a client of 3.1.1 is not read beyond what may be under way', async (t) => {
  const { door, sink } = await mqttRig(t)
  const client = await MqttClient.enter(door, { level: 4 })
  const { promise, resolve } = Promise.withResolvers<void>()
  let tried = 0
  sink.answer = () => {
    tried += 1
    return promise.then(() => ({ kind: 'accepted' }))
  }
  client.tell(...Array.from({ length: 100 }, (_, at) => attr(1, at + 1)))
  await until('the first are under way', () => tried === 64)
  await turn()
  t.is(tried, 64)
  t.false(client.isReading)
  resolve()
  await client.next('puback', 100)
  t.true(client.isReading)
})

test('mqtt-connection/2: a client that reads no answers is not read, and beyond a bound cut', async (t) => {
  const { door } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  client.unread = HELD_PAUSE + 1
  client.tell({ cmd: 'pingreq' })
  await client.next('pingresp')
  client.tell({ cmd: 'pingreq' })
  t.false(client.isReading)
  client.read()
  t.true(client.isReading)
  await client.next('pingresp', 2)
  client.unread = HELD_MAX + 1
  client.tell({ cmd: 'pingreq' })
  await until('it is cut', () => client.isClosed)
  t.pass()
})

test('in-flight/1: a large packet counts until it is done with, and nothing is left of a client', async (t) => {
  const { door, meter } = await mqttRig(t)
  const inFlight = (): number => meter.gauges.get('mqtt_in_flight_bytes')?.() ?? -1
  const client = await MqttClient.enter(door)
  t.is(inFlight(), 0)
  client.arrive(Buffer.from([0x30, 0x80, 0x80, 0x04]))
  client.arrive(fill(50_000))
  t.is(inFlight(), 50_004)
  client.vanish()
  t.is(inFlight(), 0)
})

test('mqtt-connection/3: a defect ends its connection and no other', async (t) => {
  const { door, logger } = await mqttRig(t)
  const [client, other] = [
    await MqttClient.enter(door, {}, { clientId: 'a' }),
    await MqttClient.enter(door, {}, { clientId: 'b' }),
  ]
  client.send = () => {
    throw new Error('a defect')
  }
  client.tell({ cmd: 'pingreq' })
  await until('it is cut', () => client.isClosed)
  other.tell({ cmd: 'pingreq' })
  await other.next('pingresp')
  t.true(logger.lines.some(({ fact }) => fact === 'an MQTT connection failed'))
})

test('a refused publish of 3.1.1 is acknowledged, counted and said to the operator', async (t) => {
  const { door, meter, logger } = await mqttRig(t)
  const client = await MqttClient.enter(door, { level: 4 })
  client.tell(publish(1, 1, { topic: 'elsewhere' }))
  await client.next('puback')
  t.is(meter.total('refused_total{route_not_found}'), 1)
  t.like(logger.lines.at(-1), { level: 'debug', fields: { code: 'route_not_found' } })
  t.false(JSON.stringify(logger.lines).includes(PASSWORD))
})
