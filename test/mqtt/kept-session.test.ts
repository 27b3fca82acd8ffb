// Goal: a session that outlives its connection goes on, on whichever node, as long as it was asked
// for; each of its publishes has one effect.

import test from 'ava'

import type { ConnectPacket, Packet } from '#src/mqtt/codec'
import { MqttClient } from '#test/support/mqtt-client'
import { publish } from '#test/support/mqtt-play'
import { KEPT_MS_MAX, mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { entry } from '#test/support/session-words'
import { turn, until } from '#test/support/until'

const HOUR = 3_600
const hello = (qos: 1 | 2, messageId: number, more = {}) =>
  publish(qos, messageId, { topic: 'messages', payload: Buffer.from('hello'), ...more })
const again = { dup: true }
const subscribeAs = (messageId: number, ...topics: readonly string[]): Packet => ({
  cmd: 'subscribe',
  messageId,
  subscriptions: topics.map((topic) => ({ topic, qos: 1 })),
})
const subscribe = (...topics: readonly string[]): Packet => subscribeAs(1, ...topics)
const enter = (
  { door }: Pick<MqttRig, 'door'>,
  more: Partial<ConnectPacket> = {},
  level: 4 | 5 = 5,
): Promise<MqttClient> => {
  const properties = { sessionExpiryInterval: HOUR }
  return MqttClient.enter(door, { level }, { clean: false, properties, ...more })
}
const present = (client: MqttClient): unknown =>
  (client.of('connack')[0] as { readonly sessionPresent?: boolean }).sessionPresent
const expiry = (client: MqttClient): unknown =>
  (client.of('connack')[0] as ConnectPacket).properties?.sessionExpiryInterval
const opIds = ({ sink }: MqttRig): readonly string[] => sink.accepted.map(({ opId }) => opId)
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 10; turns += 1) await turn()
}

test('a session is present until its time is over or a clean start forgets it', async (t) => {
  const rig = await mqttRig(t)
  const visit = async (more: Partial<ConnectPacket> = {}, level: 4 | 5 = 5): Promise<unknown> => {
    const client = await enter(rig, more, level)
    client.vanish()
    await settled()
    return present(client)
  }
  t.false(await visit())
  t.true(await visit())
  t.true(await visit({}, 4))
  rig.pass(10 * HOUR * 1_000)
  t.true(await visit(), 'a session of 3.1.1 has no end of its own')
  rig.pass(HOUR * 1_000)
  t.false(await visit())
  t.false(await visit({ clean: true }))
  t.true(await visit({ properties: {} }))
  t.false(await visit(), 'without an expiry it ended with its connection')
  t.false(await visit({ clean: true, properties: {} }))
  t.false(await visit({ clientId: 'another' }))
})

test('CONNACK says for how long, and DISCONNECT may say otherwise', async (t) => {
  const rig = await mqttRig(t)
  t.is(expiry(await enter(rig)), undefined)
  t.is(
    expiry(await enter(rig, { properties: { sessionExpiryInterval: 0xffffffff } })),
    KEPT_MS_MAX / 1_000,
  )
  const client = await enter(rig)
  client.tell({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } })
  await settled()
  t.false(present(await enter(rig)))
  const clean = await enter(rig, { clean: true, properties: {} })
  clean.tell({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 5 } })
  t.is((await clean.next('disconnect')).reasonCode, 0x82)
})

test('a session goes on with its subscriptions and its place, and leaves them when it is told', async (t) => {
  const rig = await mqttRig(t)
  const { subscriptions, channelId, reads } = rig
  const client = await enter(rig)
  client.tell(subscribe('messages', 'things/+'))
  await client.next('suback')
  const [deviceId] = subscriptions.members.get(channelId) ?? []
  t.truthy(deviceId)
  client.vanish()
  const asked: number[] = []
  subscriptions.position = async () => ({
    channelId,
    channelName: '',
    headSeq: 9,
    sinceSeq: 3,
    ackedSeq: 5,
  })
  reads.catchUp = async (requests) => {
    asked.push(...requests.map(({ afterSeq }) => afterSeq))
    return [{ entries: [], headSeq: 9, complete: true }]
  }
  const back = await enter(rig)
  await until('it reads on', () => asked.length > 0)
  t.deepEqual(asked, [5])
  back.tell({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['messages', 'things/+'] })
  await back.next('unsuback')
  t.is(subscriptions.members.get(channelId)?.size, 0)
})

test('what a client acknowledges moves the place of its session', async (t) => {
  const rig = await mqttRig(t)
  const { channelId, bus, subscriptions } = rig
  const client = await enter(rig)
  client.tell(subscribe('messages'))
  await client.next('suback')
  bus.announce([{ channelId, entries: [{ ...entry('A', 1), channelId }] }])
  const { messageId = 0 } = await client.next('publish')
  rig.pass(5_000)
  await settled()
  t.deepEqual(subscriptions.acknowledged, [])
  client.tell({ cmd: 'puback', messageId })
  rig.pass(5_000)
  await until('it is written', () => subscriptions.acknowledged.length > 0)
  t.like(subscriptions.acknowledged, [{ channelId, seq: 1 }])
})

test('subscriber/2: the store has a subscription before SUBACK leaves', async (t) => {
  const rig = await mqttRig(t)
  const client = await enter(rig)
  const { promise, resolve } = Promise.withResolvers<void>()
  const store = rig.mqttSessions.subscribe.bind(rig.mqttSessions)
  rig.mqttSessions.subscribe = (...asked) => promise.then(() => store(...asked))
  client.tell(subscribe('messages'), subscribeAs(2, 'events/#'))
  await settled()
  t.is(client.of('suback').length, 0)
  resolve()
  await client.next('suback', 2)
  t.regex([...rig.mqttSessions.rows.values()][0]?.subscriptions ?? '', /messages.*events/)
})

test('a channel with too many devices refuses the subscription of a kept session', async (t) => {
  const rig = await mqttRig(t)
  rig.subscriptions.subscribe = async () => ({ kind: 'full' })
  for (const [level, code] of [
    [5, 0x97],
    [4, 0x80],
  ] as const) {
    const client = await enter(rig, { clientId: `of ${level}` }, level)
    client.tell(subscribe('messages', 'events/#'))
    t.like(await client.next('suback'), { granted: [code, code] })
  }
  t.is(rig.meter.total('mqtt_places_refused_total'), 2)
})

test('mqtt-door/1: a connection on another node ends the older one, and its will with it', async (t) => {
  const rig = await mqttRig(t)
  const other = rig.another()
  const will = {
    topic: 'things/a/attrs/online',
    payload: Buffer.from('offline'),
    properties: { willDelayInterval: 10 },
  }
  // A session that is not kept is over with its connection, and so is the delay of its will.
  const rows = [
    [{ will }, 0],
    [{ will, clean: true, properties: {} }, 1],
  ] as const
  for (const [more, wills] of rows) {
    const older = await enter(rig, more)
    rig.pass(1)
    const newer = await enter({ door: other }, more)
    t.is((await older.next('disconnect')).reasonCode, 0x8e)
    t.false(newer.isClosed)
    newer.vanish()
    rig.pass(1)
    const back = await enter(rig, more)
    rig.pass(20_000)
    await settled()
    t.is(rig.sink.accepted.length, wills) // Of the newer one.
    back.tell({ cmd: 'disconnect', reasonCode: 0 })
  }
})

test('exchanges/1: a publish that comes again in the next connection is the same submission', async (t) => {
  const rig = await mqttRig(t)
  for (const qos of [1, 2] as const) {
    rig.sink.accepted.length = 0
    const client = await enter(rig)
    client.tell(hello(qos, 7))
    await until('it is in the log', () => rig.sink.accepted.length === 1)
    client.vanish()
    const back = await enter({ door: rig.another() })
    back.tell(hello(qos, 7, again))
    await back.next(qos === 1 ? 'puback' : 'pubrec')
    t.is(new Set(opIds(rig)).size, 1)
    t.deepEqual(
      rig.sink.accepted.map(({ mayRepeat }) => mayRepeat),
      [undefined, true], // turn-records/4
    )
    t.is(new Set(rig.sink.accepted.map(({ entityId }) => entityId)).size, 1)
    if (qos === 2) back.tell({ cmd: 'pubrel', messageId: 7 })
  }
})

test('exchanges/2: another publish with the same packet id is not lost', async (t) => {
  const rows = [
    ['a new one', 1, hello(1, 7)],
    ['another content', 1, hello(1, 7, { ...again, payload: Buffer.from('other') })],
    ['another topic', 1, hello(1, 7, { ...again, topic: 'things/a/attrs/b' })],
    ['another QoS', 1, hello(2, 7, again)],
    ['another id', 1, hello(1, 8, again)],
    ['after PUBREL', 2, hello(2, 7, again)],
  ] as const
  for (const [what, qos, next] of rows) {
    const rig = await mqttRig(t)
    const client = await enter(rig)
    client.tell(hello(qos, 7))
    await client.next(qos === 1 ? 'puback' : 'pubrec')
    if (qos === 2) {
      client.tell({ cmd: 'pubrel', messageId: 7 })
      await client.next('pubcomp')
    }
    client.vanish()
    const back = await enter(rig)
    back.tell(next)
    await back.next(next.qos === 1 ? 'puback' : 'pubrec')
    t.is(new Set(opIds(rig)).size, 2, what)
  }
})

test('exchanges/3: the oldest are forgotten at QoS 1, never those that wait for their PUBREL', async (t) => {
  const rig = await mqttRig(t)
  const client = await enter(rig, {}, 4)
  client.tell(hello(2, 1))
  for (let id = 2; id <= 200; id += 1) client.tell(hello(1, id))
  await client.next('puback', 199)
  const [row] = rig.mqttSessions.rows.values()
  t.is(row?.exchanges.size, 128)
  client.vanish()
  const back = await enter(rig, {}, 4)
  back.tell(hello(2, 1, again), hello(1, 200, again), hello(1, 2, again))
  await back.next('puback', 2)
  t.is(new Set(opIds(rig)).size, 201)
})

test('remembered/1: an exchange is in the store before its publish is in the log', async (t) => {
  const rig = await mqttRig(t)
  const client = await enter(rig)
  const { promise, resolve } = Promise.withResolvers<void>()
  const record = rig.mqttSessions.record.bind(rig.mqttSessions)
  rig.mqttSessions.record = (...asked) => promise.then(() => record(...asked))
  client.tell(hello(1, 7))
  await settled()
  t.is(rig.sink.accepted.length, 0)
  resolve()
  await client.next('puback')
})

test('remembered/2: a store that is away delays one publish and no other', async (t) => {
  const rig = await mqttRig(t)
  const client = await enter(rig)
  rig.mqttSessions.record = () => new Promise(() => undefined)
  client.tell(hello(1, 7))
  await settled()
  rig.pass(1_000)
  await client.next('puback')
  client.tell(hello(1, 8))
  await client.next('puback', 2)
  t.is(rig.meter.total('mqtt_unrecorded_total'), 1)
})

test('a connection whose session another one has submits nothing more', async (t) => {
  const rig = await mqttRig(t)
  const client = await enter(rig)
  for (const row of rig.mqttSessions.rows.values()) row.number += 1
  client.tell(hello(1, 7))
  t.is((await client.next('disconnect')).reasonCode, 0x8e)
  t.is(rig.sink.accepted.length, 0)
})

test('a store that is away refuses a kept session, and no other', async (t) => {
  const rig = await mqttRig(t)
  rig.mqttSessions.isAway = true
  t.is((await (await enter(rig)).next('connack')).reasonCode, 0x89)
  t.is((await (await enter(rig, { clean: true, properties: {} })).next('connack')).reasonCode, 0)
})
