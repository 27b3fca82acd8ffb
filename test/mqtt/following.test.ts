// Goal: subscribers of the door hear of what the log applies, within their rights, and cost nothing
// once they are gone.

import test from 'ava'

import type { Thing } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import { isRecord } from '#domain/record'
import type { Packet } from '#src/mqtt/codec'
import { WINDOW_ENTRIES_MAX } from '#src/transports/signals'
import { CHANNEL, NOW_MS } from '#test/support/making'
import { MqttClient } from '#test/support/mqtt-client'
import { addKey, mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { entry } from '#test/support/session-words'

const subscribe = (...topics: readonly string[]): Packet => ({
  cmd: 'subscribe',
  messageId: 1,
  subscriptions: topics.map((topic) => ({ topic, qos: 0 })),
})

const none = { values: {}, times: undefined }
const thing = (id: string): Thing => ({
  id,
  state: 'active',
  stateAt: 1,
  rev: 1,
  seq: 1,
  at: 1,
  changedAt: 1,
  fields: none,
  attrs: { values: { t: 20 }, times: undefined },
  externalIds: none,
})

/** A Message of the rig's channel, whose head is 7. */
const message = ({ channelId }: MqttRig, seq: number): FeedEntry => ({
  ...entry('A', seq),
  channelId,
})
const tell = (rig: MqttRig, seq: number): void =>
  rig.bus.announce([{ channelId: rig.channelId, entries: [message(rig, seq)] }])

const seqOf = (packet: Packet): unknown =>
  isRecord(packet) && (JSON.parse(String(packet['payload'])) as { readonly seq: unknown }).seq

const codes = async (client: MqttClient): Promise<unknown> =>
  ((await client.next('suback')) as { readonly granted?: unknown }).granted

test('mqtt-subscriptions/2: a key follows what its rights are for and nothing else', async (t) => {
  const rig = await mqttRig(t)
  const topics = [
    'things/a-1',
    'things/a-1/attrs/+',
    'things/b',
    'things/+',
    'events/#',
    'messages',
  ]
  const expected = [
    [{ scopes: ['send'] }, [0x87, 0x87, 0x87, 0x87, 0x87, 0x87]],
    [{ thingPrefix: 'a-' }, [0, 0, 0x87, 0x87, 0x87, 0x87]],
    [{ scopes: ['read'] }, [0, 0, 0, 0, 0, 0]],
  ] as const
  for (const [rights, granted] of expected) {
    const key = await addKey(rig, rights)
    const client = await MqttClient.enter(
      rig.door,
      {},
      { clientId: key, password: Buffer.from(key) },
    )
    client.tell(subscribe(...topics))
    t.deepEqual(await codes(client), granted)
  }
})

test('the present state is sent to who asks for it, as retained', async (t) => {
  const rig = await mqttRig(t)
  rig.reads.keptThings = [thing('a'), thing('b')]
  rig.reads.addEvent('e', { title: 'E' })
  const client = await MqttClient.enter(rig.door)
  client.tell(subscribe('things/+/attrs/t', 'events/+'))
  await client.next('publish', 3)
  t.like(client.of('publish'), [
    { topic: 'things/a/attrs/t', payload: Buffer.from('20'), retain: true },
    { topic: 'things/b/attrs/t', retain: true },
    { topic: 'events/e', retain: true },
  ])
  const one = await MqttClient.enter(rig.door, {}, { clientId: 'one' })
  const before = rig.reads.queries.length
  one.tell(subscribe('things/b'))
  t.like(await one.next('publish'), { topic: 'things/b' })
  t.is(rig.reads.queries.length, before)
})

test('mqtt-following/1: nothing is lost between the head and the first announcement', async (t) => {
  const rig = await mqttRig(t)
  const info = rig.channels.info.bind(rig.channels)
  rig.channels.info = async (channelId) => {
    const found = await info(channelId)
    tell(rig, 8)
    return found
  }
  rig.reads.catchUp = () => Promise.reject(new Error('there is nothing to read'))
  const client = await MqttClient.enter(rig.door)
  client.tell(subscribe('messages'))
  await client.next('suback')
  tell(rig, 9)
  t.regex(String(((await client.next('publish')) as { payload?: Buffer }).payload), /"seq":9/)
  t.false(client.isClosed)
})

test('an announcement that the bus lost is found within a minute', async (t) => {
  const rig = await mqttRig(t)
  const info = rig.channels.info.bind(rig.channels)
  const client = await MqttClient.enter(rig.door)
  client.tell(subscribe('messages'))
  await client.next('suback')
  rig.reads.catchUp = async () => [{ entries: [message(rig, 8)], headSeq: 8, complete: true }]
  rig.channels.info = async (channelId) => {
    const found = await info(channelId)
    return found && { ...found, headSeq: 8 }
  }
  rig.pass(60_000)
  t.regex(String(((await client.next('publish')) as { payload?: Buffer }).payload), /"seq":8/)
})

test('a Message past its ttl goes to nobody who reads it later, and stands in no way', async (t) => {
  const rig = await mqttRig(t)
  const client = await MqttClient.enter(rig.door)
  client.tell(subscribe('messages'))
  await client.next('suback')
  const info = rig.channels.info.bind(rig.channels)
  const until = (seq: number, ttl: number) => ({
    ...message(rig, seq),
    payload: JSON.stringify({ title: 'x', ttl }),
  })
  const entries = [until(8, NOW_MS), until(9, NOW_MS + 3_600_000), message(rig, 10)]
  rig.reads.catchUp = async () => [{ entries, headSeq: 10, complete: true }]
  rig.channels.info = async (channelId) => {
    const found = await info(channelId)
    return found && { ...found, headSeq: 10 }
  }
  rig.pass(60_000)
  await client.next('publish', 2)
  t.deepEqual(client.of('publish').map(seqOf), [9, 10])
  tell(rig, 11)
  await client.next('publish', 3)
  t.deepEqual(client.of('publish').map(seqOf), [9, 10, 11])
})

test('subscriber/3: a client that is far behind gets every entry in its order', async (t) => {
  const rig = await mqttRig(t)
  rig.reads.catchUp = () => Promise.reject(new Error('recent entries are there'))
  const clients = [
    await MqttClient.enter(rig.door),
    await MqttClient.enter(rig.door, {}, { clientId: 'other' }),
  ]
  for (const client of clients) {
    client.tell(subscribe('messages'))
    await client.next('suback')
  }
  const seqs = Array.from({ length: 3 * WINDOW_ENTRIES_MAX }, (_, at) => 8 + at)
  const entries = seqs.map((seq) => message(rig, seq))
  rig.bus.announce([{ channelId: rig.channelId, entries }])
  for (const client of clients) {
    await client.next('publish', seqs.length)
    t.deepEqual(client.of('publish').map(seqOf), seqs)
  }
})

test('mqtt-following/2: a client that is gone listens to nothing', async (t) => {
  const { door, bus, channelId } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  client.tell(subscribe('messages'))
  await client.next('suback')
  t.is(bus.listening(channelId), 1)
  client.vanish()
  t.is(bus.listening(channelId), 0)
  t.is(CHANNEL, channelId)
})

test('a store that does not answer sends the subscriber away', async (t) => {
  const { door, channels } = await mqttRig(t)
  channels.info = () => Promise.reject(new Error('away'))
  const client = await MqttClient.enter(door)
  client.tell(subscribe('messages'))
  t.is((await client.next('disconnect')).reasonCode, 0x97)
})

test('a refused subscription says why to a client that takes it', async (t) => {
  const rig = await mqttRig(t)
  const reasonFor = async (filter: string, more = {}, level: 4 | 5 = 5): Promise<unknown> => {
    const client = await MqttClient.enter(rig.door, { level }, more)
    client.tell(subscribe(filter))
    const { properties } = (await client.next('suback')) as {
      readonly properties?: { readonly reasonString?: string }
    }
    return properties?.reasonString
  }
  t.regex(String(await reasonFor('$SYS/#')), /no topic of the gateway can match/)
  t.regex(String(await reasonFor('$share/a/messages')), /no shared subscriptions/)
  t.is(await reasonFor('messages'), undefined)
  t.is(await reasonFor('$SYS/#', {}, 4), undefined)
  t.is(await reasonFor('$SYS/#', { properties: { requestProblemInformation: false } }), undefined)
  t.is(await reasonFor('$SYS/#', { properties: { maximumPacketSize: 64 } }), undefined)
})
