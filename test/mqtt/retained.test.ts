// Goal: the present state that SUBSCRIBE asks for goes out as fast as its client takes it, and a
// client that takes nothing costs others nothing.

import test from 'ava'

import type { EntityQuery } from '#domain/store-ports'
import { HELD_PAUSE, SUBSCRIPTIONS_MAX } from '#src/mqtt/bounds'
import type { Packet } from '#src/mqtt/codec'
import { MqttClient } from '#test/support/mqtt-client'
import { mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { NONE, keepThings } from '#test/support/kept-things'
import { seeded } from '#test/support/random'
import { turn, until } from '#test/support/until'

const subscribe = (topic: string): Packet => ({
  cmd: 'subscribe',
  messageId: 1,
  subscriptions: [{ topic, qos: 0 }],
})

const unsubscribe = (topic: string): Packet => ({
  cmd: 'unsubscribe',
  messageId: 1,
  unsubscriptions: [topic],
})

/** Client ids of those that read nothing: more than there are places. */
const UNREAD = Array.from({ length: 20 }, (_, at) => `unread-${at}`)

async function unreadSubscriber(
  rig: MqttRig,
  clientId: string,
  subscribed: readonly Packet[] = [subscribe('things/+')],
): Promise<MqttClient> {
  const client = await MqttClient.enter(rig.door, {}, { clientId })
  client.unread = HELD_PAUSE + 1
  client.tell(...subscribed)
  await client.next('publish')
  return client
}

const turns = async (count = 20): Promise<void> => {
  for (let at = 0; at < count; at += 1) await turn()
}

test('writing/1, mqtt-following/3: the state is read on once the client has taken what is there', async (t) => {
  const rig = await mqttRig(t)
  keepThings(rig, 3)
  const client = await unreadSubscriber(rig, 'slow')
  await turns()
  t.is(rig.reads.queries.length, 1)
  for (let seen = 1; seen <= 3; seen += 1) {
    t.deepEqual(client.of('publish').length, seen)
    client.read()
    client.unread = HELD_PAUSE + 1
    await turns()
  }
  t.deepEqual(
    rig.reads.queries.map((query) => (query as EntityQuery).before),
    [undefined, 3, 2],
  )
})

test('mqtt-following/3: whoever reads in parts of any size gets each Thing once', async (t) => {
  const rig = await mqttRig(t)
  keepThings(rig, 250, NONE)
  const random = seeded(1)
  const client = await MqttClient.enter(rig.door)
  client.tell(subscribe('things/+'))
  const send = client.send.bind(client)
  client.send = (bytes) => {
    client.unread += random(2) === 0 ? bytes.length : random(2 * HELD_PAUSE)
    return send(bytes)
  }
  await until('all have come', () => {
    client.read()
    return client.of('publish').length >= 250
  })
  await turns()
  const ids = client.of('publish').map((packet) => 'topic' in packet && packet.topic)
  t.deepEqual(
    ids,
    Array.from({ length: 250 }, (_, at) => `things/${at}`),
  )
})

test('mqtt-following/4: subscribers that read nothing hold no place of others', async (t) => {
  const rig = await mqttRig(t)
  keepThings(rig, 3)
  for (const clientId of UNREAD) await unreadSubscriber(rig, clientId)
  const other = await MqttClient.enter(rig.door)
  other.tell(subscribe('things/+'))
  await other.next('suback')
  await other.next('publish', 3)
  t.is(rig.meter.gauges.get('mqtt_reads_waiting')?.(), 0)
})

test('mqtt-following/5: a client that subscribes again and again has one reading at a time', async (t) => {
  const rig = await mqttRig(t)
  keepThings(rig, 3)
  const client = await unreadSubscriber(
    rig,
    'slow',
    UNREAD.map(() => subscribe('things/+')),
  )
  await turns()
  t.is(rig.reads.queries.length, 1)
  client.read()
  await client.next('publish', 6)
  await turns()
  t.is(client.of('publish').length, 6) // What was asked for meanwhile is read once.
})

for (const [filters, isOver] of [
  [SUBSCRIPTIONS_MAX, false],
  [SUBSCRIPTIONS_MAX + 1, true],
] as const) {
  test(`mqtt-following/5: ${filters} filters may wait for their state: ${!isOver}`, async (t) => {
    const rig = await mqttRig(t)
    const read = Promise.withResolvers<undefined>()
    rig.reads.thing = () => read.promise
    const client = await MqttClient.enter(rig.door)
    client.tell(subscribe('things/first'))
    await client.next('suback')
    for (let at = 0; at < filters; at += 1) {
      client.tell(subscribe(`things/${at}`), unsubscribe(`things/${at}`))
    }
    await client.next('unsuback', SUBSCRIPTIONS_MAX)
    await turns()
    t.is(client.isClosed, isOver)
    if (isOver) t.is((await client.next('disconnect')).reasonCode, 0x97)
    read.resolve(undefined)
  })
}

test('a subscriber for whom there is no place to wait is sent away', async (t) => {
  const rig = await mqttRig(t)
  const { reads } = rig
  reads.thing = () => Promise.reject(new Error('too many reads wait'))
  const client = await MqttClient.enter(rig.door)
  client.tell(subscribe('things/a'))
  t.is((await client.next('disconnect')).reasonCode, 0x97)
})
