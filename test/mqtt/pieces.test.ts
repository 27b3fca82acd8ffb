// Goal: whatever pieces a client sends, also before its credentials, their cost and what is held of
// them stay in proportion to their bytes, are counted and bounded.

import test from 'ava'

import { TOPIC_ALIAS_MAX } from '#src/mqtt/bounds'
import { CONNECT_BYTES_MAX, PacketReader, encode } from '#src/mqtt/codec'
import type { ConnackPacket, Packet } from '#src/mqtt/codec'
import { STRANGERS } from '#src/mqtt/in-flight'
import { TEST_MS } from '#test/support/bounds'
import { heapAfterCollection } from '#test/support/heap'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { MqttClient } from '#test/support/mqtt-client'
import { connect, packetsIn, publish } from '#test/support/mqtt-play'
import { mqttRig } from '#test/support/mqtt-rig'
import { turn, until } from '#test/support/until'

const CREDENTIALS = { username: CHANNEL, password: Buffer.from(PASSWORD) }
const PING = encode({ cmd: 'pingreq' }, 5)

/** A CONNECT of many fields, each of which a parser would look up in its pieces. */
const wordy = (count: number): Buffer => {
  const userProperties = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [String(index), 'x']),
  )
  return encode(connect({ protocolVersion: 5, properties: { userProperties } }), 5)
}

/** The header of a packet of so many bytes behind it. */
function header(type: number, length: number): Buffer {
  const bytes = [type]
  for (let left = length; ; left >>= 7) {
    bytes.push(left >= 128 ? (left & 127) | 128 : left)
    if (left < 128) return Buffer.from(bytes)
  }
}
const unfinished = (bytes: number): Buffer =>
  Buffer.concat([header(0x10, CONNECT_BYTES_MAX), Buffer.alloc(bytes)])

for (const [name, piecesOf] of [
  ['one-byte pieces', (bytes: Buffer) => [...bytes].map((byte) => Buffer.from([byte]))],
  ['empty pieces', () => Array.from({ length: 50_000 }, () => Buffer.alloc(0))],
] as const) {
  test(`codec/5: ${name} hold no more than twice their bytes`, (t) => {
    const bytes = wordy(10_000)
    const feed = (): readonly PacketReader[] => {
      const readers = Array.from({ length: 10 }, () => new PacketReader())
      for (const reader of readers) {
        reader.add(bytes.subarray(0, 10))
        for (const piece of piecesOf(bytes.subarray(10, -1))) {
          reader.add(piece)
          if (reader.next() !== undefined) t.fail()
        }
      }
      return readers
    }
    // What other tests have left may be freed, or V8 may compile, in one round or two, not in all.
    const rounds = [1, 2, 3].map(() => {
      const before = heapAfterCollection() + process.memoryUsage().arrayBuffers
      const readers = feed()
      const held = heapAfterCollection() + process.memoryUsage().arrayBuffers - before
      for (const reader of readers) t.true(reader.heldBytes <= 2 * bytes.length)
      return held
    })
    const held = Math.min(...rounds)
    t.true(held < 4 * 10 * bytes.length, `${held} bytes for ${bytes.length} each`)
  })
}

test('codec/5: a small publish of a large piece does not keep the piece', (t) => {
  const reader = new PacketReader()
  packetsIn(reader, encode(connect({ protocolVersion: 5 }), 5))
  const large = encode(publish(0, 0, { payload: Buffer.alloc(60_000) }), 5)
  const small = encode(publish(1, 1, { payload: Buffer.from('20.5') }), 5)
  const { packets } = packetsIn(reader, Buffer.concat([large, small]))
  const [kept] = packets.slice(1) as readonly { readonly payload: Buffer }[]
  t.is(kept?.payload.toString(), '20.5')
  t.true((kept?.payload.buffer.byteLength ?? Infinity) < 100)
})

test('codec/1: a CONNECT at its bound is waited for, and one beyond it ends the connection', async (t) => {
  const { door, meter } = await mqttRig(t)
  const at = new MqttClient(door)
  at.arrive(header(0x10, CONNECT_BYTES_MAX))
  t.false(at.isClosed)
  const beyond = new MqttClient(door)
  beyond.arrive(header(0x10, CONNECT_BYTES_MAX + 1))
  t.true(beyond.isClosed)
  at.vanish()
  t.is(meter.gauges.get('mqtt_stranger_bytes')?.(), 0)
})

test('in-flight/2: unfinished CONNECTs of strangers are bounded, and take no room of others', async (t) => {
  const { door, meter } = await mqttRig(t)
  const held = (): number => meter.gauges.get('mqtt_stranger_bytes')?.() ?? -1
  const strangers = Array.from({ length: 1_200 }, (_, index) => {
    const stranger = new MqttClient(door, { address: `198.51.${index % 100}.1` })
    stranger.arrive(unfinished(CONNECT_BYTES_MAX - 10))
    return stranger
  })
  const most = STRANGERS.total + CONNECT_BYTES_MAX
  t.true(held() > STRANGERS.total / 2 && held() <= most, `${held()} bytes`)
  t.true(strangers.some(({ isClosed }) => isClosed))
  t.is(meter.gauges.get('mqtt_in_flight_bytes')?.(), 0)
  const client = await MqttClient.enter(door)
  client.tell({ cmd: 'pingreq' })
  await client.next('pingresp')
  t.is(meter.gauges.get('mqtt_unread_connections')?.(), 0)
  for (const stranger of strangers) stranger.vanish()
  t.is(held(), 0)
})

test('in-flight/2: beyond the bound of one address its strangers are sent away', async (t) => {
  const { door } = await mqttRig(t)
  const strangers = Array.from({ length: 150 }, () => {
    const stranger = new MqttClient(door)
    stranger.arrive(unfinished(CONNECT_BYTES_MAX - 10))
    return stranger
  })
  const stay = strangers.filter(({ isClosed }) => !isClosed).length
  t.is(stay, Math.floor(STRANGERS.perAddress / (CONNECT_BYTES_MAX - 6)))
})

test('in-flight/2: what waits behind CONNECT counts as a stranger’s until the credentials are good', async (t) => {
  const { door, meter, sink } = await mqttRig(t)
  const counted = (name: 'stranger' | 'in_flight'): number =>
    meter.gauges.get(`mqtt_${name}_bytes`)?.() ?? -1
  const { promise, resolve } = Promise.withResolvers<void>()
  sink.answer = () => promise.then(() => ({ kind: 'accepted' }))
  const client = new MqttClient(door)
  const waiting = encode(publish(1, 1, { payload: Buffer.alloc(5_000, '{') }), 5)
  const hello = encode(connect({ protocolVersion: 5, ...CREDENTIALS }), 5)
  client.arrive(Buffer.concat([hello, waiting, PING]))
  t.deepEqual([counted('stranger'), counted('in_flight')], [waiting.length + PING.length, 0])
  await client.next('connack')
  await client.next('pingresp')
  t.is(counted('stranger'), 0)
  resolve()
  await client.next('puback')
  t.is(counted('in_flight'), 0)
})

test('incoming/1: one message of many packets leaves others their turn', async (t) => {
  const { door } = await mqttRig(t)
  const [many, one] = [
    await MqttClient.enter(door, {}, { clientId: 'many' }),
    await MqttClient.enter(door, {}, { clientId: 'one' }),
  ]
  many.arrive(Buffer.concat(Array.from({ length: 10_000 }, () => PING)))
  t.false(many.isReading)
  one.arrive(PING)
  await one.next('pingresp')
  t.true(many.of('pingresp').length < 1_000)
  await many.next('pingresp', 10_000)
  await turn()
  t.true(many.isReading)
})

const will = { topic: 'things/a', payload: Buffer.alloc(4_000), qos: 0 as const, retain: false }
/** What counts as long as the connection lives. */
const noted = { userProperties: { note: 'x'.repeat(30_000) } }
const codeOf = (packet: Packet): number =>
  'reasonCode' in packet && typeof packet.reasonCode === 'number' ? packet.reasonCode : -1

test('lasting/1: wills count while their connections live, and beyond the bound of an address there is room for none', async (t) => {
  t.timeout(TEST_MS)
  const { door, meter } = await mqttRig(t)
  const lasting = (): number => meter.gauges.get('mqtt_lasting_bytes')?.() ?? -1
  const clients: MqttClient[] = []
  let code = 0
  while (code === 0 && clients.length < 1_100) {
    const client = await MqttClient.enter(
      door,
      {},
      {
        clientId: `c${clients.length}`,
        will,
        properties: noted,
      },
    )
    code = codeOf(client.received[0] as Packet)
    clients.push(client)
  }
  t.is(code, 0x9f)
  t.true(lasting() <= 32 * 2 ** 20 && lasting() > 31 * 2 ** 20, `${lasting()} bytes`)
  const other = await MqttClient.enter(door, { address: '203.0.113.7' }, { will })
  t.is(codeOf(other.received[0] as Packet), 0)
  for (const client of [...clients, other]) client.vanish()
  await until('nothing is left', () => lasting() === 0)
})

test('lasting/1: a client for whose aliases there is no room is told of none', async (t) => {
  t.timeout(TEST_MS)
  const { door } = await mqttRig(t)
  const told = new Set<number | undefined>()
  for (let count = 0; count < 1_900; count += 1) {
    const client = await MqttClient.enter(door, {}, { clientId: `c${count}` })
    const { properties } = client.received[0] as ConnackPacket
    told.add(properties?.topicAliasMaximum)
    if (properties?.topicAliasMaximum !== 0) continue
    client.tell(publish(0, 0, { properties: { topicAlias: 1 } }))
    t.is(codeOf(await client.next('disconnect')), 0x94)
    break
  }
  t.deepEqual([...told], [TOPIC_ALIAS_MAX, 0])
})

for (const [name, topic, code] of [
  ['at the bound', `things/${'a'.repeat(120)}`, 0x90],
  ['beyond the bound', 'x'.repeat(513), 0x90],
  ['of 64 KB', 'x'.repeat(65_000), 0x90],
] as const) {
  test(`publishes/4: an alias for a topic ${name} is used again and nothing beyond the bound kept`, async (t) => {
    const { door } = await mqttRig(t)
    const client = await MqttClient.enter(door)
    const properties = { topicAlias: 1 }
    const sent = name === 'at the bound' ? `${topic}/unmapped/x/y` : topic
    client.tell(
      publish(1, 1, { topic: sent, properties }),
      publish(1, 2, { topic: '', properties }),
    )
    t.is(codeOf(await client.next('puback')), code)
    t.is(codeOf(await client.next('puback', 2)), code)
  })
}

test('publishes/4: a topic beyond the bound takes no memory behind its alias', async (t) => {
  const { door, meter, logger } = await mqttRig(t)
  const clients: MqttClient[] = []
  for (let count = 0; count < 10; count += 1) {
    clients.push(await MqttClient.enter(door, {}, { clientId: `c${count}` }))
  }
  const send = async (client: MqttClient): Promise<void> => {
    for (let topicAlias = 1; topicAlias <= TOPIC_ALIAS_MAX; topicAlias += 1) {
      client.tell(publish(0, 0, { topic: 'x'.repeat(65_000), properties: { topicAlias } }))
      await turn()
    }
  }
  const [first, ...others] = clients
  if (first !== undefined) await send(first) // What is compiled and kept once is there then.
  logger.lines.splice(0)
  const before = heapAfterCollection()
  for (const client of others) await send(client)
  logger.lines.splice(0) // Each line names its topic.
  const held = heapAfterCollection() - before
  const counted = meter.gauges.get('mqtt_lasting_bytes')?.() ?? 0
  const sent = others.length * TOPIC_ALIAS_MAX * 65_000
  t.true(held < sent / 4 + counted, `${held} bytes, ${counted} counted`)
})
