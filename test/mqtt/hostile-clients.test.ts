// Goal: whatever packets a client sends, in whatever order, its connection lives on or ends with a
// reason; nothing of it stays, nobody else notices, and no defect is told.

import * as fc from 'fast-check'
import test from 'ava'

import { encode } from '#src/mqtt/codec'
import type { Packet } from '#src/mqtt/codec'
import { TEST_MS } from '#test/support/bounds'
import { MqttClient } from '#test/support/mqtt-client'
import { connect } from '#test/support/mqtt-play'
import { mqttRig } from '#test/support/mqtt-rig'
import { turn } from '#test/support/until'

const RUNS = Number(process.env['RUNS'] ?? 150)

const topic = fc.constantFrom(
  'things/a',
  'things/a/attrs/t',
  'messages',
  'events/e',
  '#',
  'a/+',
  '$share/g/a',
)
const qos = fc.constantFrom(0 as const, 1 as const, 2 as const)
const messageId = fc.integer({ min: 1, max: 4 })
const payload = fc
  .constantFrom('20', '{}', '{"action":"create"}', '')
  .map((text) => Buffer.from(text))
const isIt = fc.boolean()

const published = fc
  .record({
    topic,
    qos,
    messageId,
    payload,
    dup: isIt,
    retain: isIt,
    topicAlias: fc.option(fc.nat(40)),
  })
  .map(({ topicAlias, ...sent }): Packet => ({
    cmd: 'publish',
    ...sent,
    dup: sent.dup && sent.qos > 0,
    ...(topicAlias !== null && topicAlias > 0 && { properties: { topicAlias } }),
  }))
const answered = fc
  .record({ cmd: fc.constantFrom('puback', 'pubrec', 'pubrel', 'pubcomp'), messageId })
  .map((sent): Packet => sent as Packet)
const subscribed = fc
  .record({
    messageId,
    topics: fc.array(fc.record({ topic, qos, nl: isIt }), { minLength: 1, maxLength: 3 }),
  })
  .map(({ topics, ...sent }): Packet => ({ cmd: 'subscribe', ...sent, subscriptions: topics }))
const other = fc.constantFrom<Packet>(
  { cmd: 'pingreq' },
  { cmd: 'pingresp' },
  { cmd: 'unsubscribe', messageId: 1, unsubscriptions: ['messages'] },
  { cmd: 'disconnect', reasonCode: 4 },
  { cmd: 'auth', reasonCode: 0x18, properties: { authenticationMethod: 'x' } } as Packet,
  connect({ protocolVersion: 5 }),
)
const session = fc.array(fc.oneof(published, published, answered, subscribed, other), {
  maxLength: 25,
})
const change = fc.option(fc.tuple(fc.nat(1_000), fc.nat(255)), { freq: 3 })

test('packets of any kind and order, whole and mutated, break nothing', async (t) => {
  t.timeout(TEST_MS)
  const rig = await mqttRig(t)
  const bystander = await MqttClient.enter(rig.door, {}, { clientId: 'bystander' })
  let pings = 0
  await fc.assert(
    fc.asyncProperty(session, change, isIt, async (packets, changed, isKept) => {
      const properties = { sessionExpiryInterval: isKept ? 60 : 0 }
      const client = await MqttClient.enter(rig.door, {}, { clean: !isKept, properties })
      const bytes = Buffer.concat(packets.map((packet) => encode(packet, 5)))
      if (changed !== null && bytes.length > 0)
        bytes.writeUInt8(changed[1], changed[0] % bytes.length)
      client.arrive(bytes)
      for (let turns = 0; turns < 5; turns += 1) await turn()
      const [farewell] = client.of('disconnect') as readonly { readonly reasonCode?: number }[]
      if (farewell !== undefined) t.true(client.isClosed && (farewell.reasonCode ?? 0) >= 0x80)
      client.vanish()
      bystander.tell({ cmd: 'pingreq' })
      pings += 1
      await bystander.next('pingresp', pings)
      for (let turns = 0; turns < 5; turns += 1) await turn()
      t.is(rig.meter.gauges.get('mqtt_in_flight_bytes')?.(), 0)
      t.is(rig.meter.gauges.get('sessions{mqtt}')?.(), 1)
    }),
    { numRuns: RUNS },
  )
  t.deepEqual(
    rig.logger.lines.filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  )
})
