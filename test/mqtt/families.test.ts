// Goal: devices publish as they are through the door: what a family's table makes of a publish is
// submitted, and what it answers reaches the device.

import test from 'ava'

import { MqttClient } from '#test/support/mqtt-client'
import { publish } from '#test/support/mqtt-play'
import { addKey, mqttRig } from '#test/support/mqtt-rig'

test('a publish of a device family is submitted, and acknowledged once the log has it', async (t) => {
  const { door, sink } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  client.tell(publish(1, 7, { topic: 'tele/plug/LWT', payload: Buffer.from('Online') }))
  t.is((await client.next('puback')).reasonCode ?? 0, 0)
  t.like(sink.accepted[0], { model: 'thing', entityId: 'plug', patch: { attrs: { online: true } } })
})

test('the state of a connection is read with its later publishes, and of no other', async (t) => {
  const { door, sink } = await mqttRig(t)
  const topic = 'homie/5/lamp/$description'
  const description = { nodes: { n: { properties: { on: { datatype: 'string' } } } } }
  const [one, other] = [
    await MqttClient.enter(door),
    await MqttClient.enter(door, {}, { clientId: 'other' }),
  ]
  one.tell(publish(1, 1, { topic, payload: Buffer.from(JSON.stringify(description)) }))
  await one.next('puback')
  const before = sink.accepted.length
  for (const client of [one, other]) {
    client.tell(publish(1, 2, { topic: 'homie/5/lamp/n/on', payload: Buffer.from('true') }))
    await client.next('puback', client === one ? 2 : 1)
  }
  const values = sink.accepted.slice(before).map((submission) => JSON.stringify(submission))
  t.deepEqual([/:"true"/.test(values[0] ?? ''), /:true/.test(values[1] ?? '')], [true, true])
})

test('a device that names no Thing is the one of its key', async (t) => {
  const rig = await mqttRig(t)
  const key = await addKey(rig, { thingPrefix: 'meter-7' })
  const client = await MqttClient.enter(rig.door, {}, { password: Buffer.from(key) })
  const payload = Buffer.from('{"kwh":7}')
  client.tell(publish(1, 1, { topic: 'v1/devices/me/telemetry', payload }))
  t.is((await client.next('puback')).reasonCode ?? 0, 0)
  t.like(rig.sink.accepted[0], { entityId: 'meter-7', patch: { attrs: { kwh: 7 } } })
})

test('what a table answers goes to the device that asked', async (t) => {
  const { door } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  // Data of an edge node whose birth nobody has seen: it is asked to be born again.
  client.tell(publish(0, 0, { topic: 'spBv1.0/g/NDATA/edge', payload: Buffer.of(0x18, 1) }))
  const asked = (await client.next('publish')) as { readonly topic?: string }
  t.is(asked.topic, 'spBv1.0/g/NCMD/edge')
})
