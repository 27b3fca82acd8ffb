// Goal: devices publish as they are through the door: what a family's table makes of a publish is
// submitted, and what it answers reaches the device.

import test from 'ava'

import { fault, isFault } from '#domain/fault'
import type { Acceptance } from '#src/acceptance/acceptance'
import { MqttClient } from '#test/support/mqtt-client'
import { publish } from '#test/support/mqtt-play'
import { addKey, mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { largeBirth, sparkplugBytes } from '#test/support/sparkplug'
import { until } from '#test/support/until'

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

const DESCRIPTION = {
  topic: 'homie/5/lamp/$description',
  payload: Buffer.from('{"root":"hub","nodes":{"n":{"properties":{"p":{"datatype":"json"}}}}}'),
}
const LOST = { topic: 'homie/5/hub/$state', payload: Buffer.from('lost') }
const stateBytes = ({ meter }: MqttRig): number | undefined =>
  meter.gauges.get('device_state_bytes{mqtt}')?.()

test('translate/2: of a key that may not send nothing is read, noted or kept', async (t) => {
  const rig = await mqttRig(t)
  const password = Buffer.from(await addKey(rig, { scopes: ['read'] }))
  const client = await MqttClient.enter(rig.door, {}, { password })
  client.tell(publish(1, 1, DESCRIPTION), publish(1, 2, { topic: 'a/b/c' }))
  for (const count of [1, 2]) t.is((await client.next('puback', count)).reasonCode, 0x87)
  t.is(stateBytes(rig), 0)
  const sent = { channel_id: CHANNEL, password: PASSWORD }
  const { mappings } = rig.acceptance
  t.like(await mappings.use(sent, { receivedAtMs: rig.time.nowMs() }), { unmapped: [] })
})

test('mqtt-publisher/4: what a refused publish has taught is forgotten, and what a taken one has is kept', async (t) => {
  const rig = await mqttRig(t)
  const password = Buffer.from(await addKey(rig, { thingPrefix: 'pump' }))
  const outsider = await MqttClient.enter(rig.door, {}, { password })
  outsider.tell(publish(1, 1, DESCRIPTION))
  t.is((await outsider.next('puback')).reasonCode, 0x87)
  t.is(stateBytes(rig), 0)
  const client = await MqttClient.enter(rig.door, {}, { clientId: 'other' })
  client.tell(publish(1, 1, DESCRIPTION))
  t.is((await client.next('puback')).reasonCode ?? 0, 0)
  t.true((stateBytes(rig) ?? 0) > 0)
  client.vanish()
  t.is(stateBytes(rig), 0)
})

test('mqtt-publisher/4: a will is read with what was said before it, which is forgotten then', async (t) => {
  const rig = await mqttRig(t)
  const enter = async () => {
    const will = { ...LOST, qos: 1 as const, retain: false, properties: { willDelayInterval: 10 } }
    const kept = { clean: false, properties: { sessionExpiryInterval: 60 } }
    const client = await MqttClient.enter(rig.door, {}, { clientId: 'hub', will, ...kept })
    client.tell(publish(1, 1, DESCRIPTION))
    await client.next('puback')
    return client
  }
  const client = await enter()
  t.true((stateBytes(rig) ?? 0) > 0)
  client.vanish()
  await until('the will is read', () => stateBytes(rig) === 0)
  const before = rig.sink.accepted.length
  rig.pass(10_000)
  await until('the hub and the lamp are lost', () => rig.sink.accepted.length >= before + 2)
  t.deepEqual(
    rig.sink.accepted.slice(before).map(({ entityId }) => entityId),
    ['hub', 'lamp'],
  )
  ;(await enter()).vanish()
  const back = await enter()
  back.tell({ cmd: 'disconnect', reasonCode: 0 })
  await until('the will of the first is cancelled', () => stateBytes(rig) === 0)
  t.is(stateBytes(rig), 0)
})

test('mqtt-publisher/3: a defect in the reading of a publish refuses it, and the client goes on', async (t) => {
  const rig = await mqttRig(t)
  const pattern = {
    first: undefined,
    names: new Set<string>(),
    match: (levels: readonly string[]) => {
      if (levels[0] === 'poison') throw new Error('a defect with a secret')
      return undefined
    },
  }
  const known = [{ topic: '', thing: '', kind: 'attrs' as const, pattern }]
  // Unknown at first, as after a start: what fails then is nobody's to catch.
  let of: () => unknown = () => Promise.resolve(known)
  const mappings = Object.create(rig.acceptance.mappings, {
    of: { value: () => of() },
  }) as Acceptance['mappings']
  const door = rig.another({ acceptance: { ...rig.acceptance, mappings } })
  const client = await MqttClient.enter(door)
  client.tell(publish(1, 1, { topic: 'poison' }))
  t.true(((await client.next('puback')).reasonCode ?? 0) >= 0x80)
  of = () => known
  client.tell(publish(1, 2, { topic: 'poison' }), publish(1, 3, { topic: 'things/a' }))
  t.true(((await client.next('puback', 2)).reasonCode ?? 0) >= 0x80)
  t.is((await client.next('puback', 3)).reasonCode ?? 0, 0)
  const defects = rig.logger.lines.filter(({ level }) => level === 'error')
  t.is(defects.length, 2)
  t.false(JSON.stringify(defects).includes('secret'))
})

test('family-state/1: what the devices of one client said has a bound, which metrics show', async (t) => {
  const rig = await mqttRig(t)
  const client = await MqttClient.enter(rig.door)
  for (let index = 1; index <= 5; index += 1) {
    const birth = { topic: `spBv1.0/g/NBIRTH/e${index}`, payload: Buffer.from(largeBirth()) }
    client.tell(publish(1, index, birth))
    t.is((await client.next('puback', index)).reasonCode ?? 0, 0)
    t.true((stateBytes(rig) ?? Infinity) <= 4 * 2 ** 20)
  }
  t.true((stateBytes(rig) ?? 0) > 2 * 2 ** 20)
  t.is(rig.meter.total('device_state_forgotten_total{mqtt}'), 4)
})

const configured = (object: string, more: object) => ({
  topic: `homeassistant/sensor/${object}/config`,
  payload: Buffer.from(JSON.stringify({ state_topic: `${object}/power`, ...more })),
})
const inWatts = {
  value_template: '{{ value_json.power }}',
  name: 'Power',
  unit_of_measurement: 'W',
}

async function presentationOf({ acceptance, time }: MqttRig): Promise<unknown> {
  const sent = { channel_id: CHANNEL, password: PASSWORD }
  const shown = await acceptance.presentation.use(sent, { receivedAtMs: time.nowMs() })
  return isFault(shown) ? shown : shown.presentation
}

test('what discovery and births say of attrs is presented, before what a person has set', async (t) => {
  const rig = await mqttRig(t)
  const own = [{ things: {}, attrs: { power: { unit: 'kW' } } }]
  await rig.presentations.put(rig.channelId, JSON.stringify(own))
  const client = await MqttClient.enter(rig.door)
  const property = (name: string, text: string) => ({
    name,
    datatype: 9,
    value: { case: 'floatValue', value: 1 },
    properties: {
      keys: ['Quality', 'engUnit'],
      values: ['', text].map((stringValue) => ({ type: 12, stringValue })),
    },
  })
  const metrics = [property('flow', 'l/min'), property('bdSeq', 'x'), property('level', ' ')]
  const birth = sparkplugBytes({ seq: 0n, metrics })
  const deviceBirth = sparkplugBytes({ seq: 1n, metrics: [property('head', 'm')] })
  client.tell(
    publish(1, 1, configured('a', inWatts)),
    publish(1, 2, { topic: 'spBv1.0/g/NBIRTH/edge', payload: Buffer.from(birth) }),
    publish(1, 3, { topic: 'spBv1.0/g/DBIRTH/edge/pump', payload: Buffer.from(deviceBirth) }),
  )
  await client.next('puback', 3)
  const attrs = {
    power: { label: 'Power', unit: 'W' },
    flow: { unit: 'l/min' },
    head: { unit: 'm' },
  }
  t.deepEqual(await presentationOf(rig), [{ things: {}, attrs }, ...own])
  client.tell(publish(1, 4, configured('b', { ...inWatts, unit_of_measurement: 'VA' })))
  await client.next('puback', 4)
  const { power: _, ...others } = attrs
  const differing = { things: {}, attrs: { power: { label: 'Power' }, ...others } }
  t.deepEqual(await presentationOf(rig), [differing, ...own])
})

test('a refused publish, a key for some Things and texts that cannot be shown present nothing', async (t) => {
  const rig = await mqttRig(t)
  const enter = async (clientId: string, rights: Parameters<typeof addKey>[1]) => {
    const password = Buffer.from(await addKey(rig, rights))
    return MqttClient.enter(rig.door, {}, { clientId, password })
  }
  const [outsider, reader] = [
    await enter('pump', { thingPrefix: 'a' }),
    await enter('reader', { scopes: ['read'] }),
  ]
  outsider.tell(publish(1, 1, configured('b', inWatts)))
  t.is((await outsider.next('puback')).reasonCode, 0x87)
  outsider.tell(publish(1, 2, configured('a', inWatts)))
  t.is((await outsider.next('puback', 2)).reasonCode ?? 0, 0)
  reader.tell(publish(1, 1, configured('a', inWatts)))
  t.is((await reader.next('puback')).reasonCode, 0x87)
  const client = await MqttClient.enter(rig.door, {}, { clientId: 'whole' })
  const unshown = { ...inWatts, name: null, unit_of_measurement: 'x'.repeat(65) }
  client.tell(publish(1, 1, configured('a', unshown)))
  t.is((await client.next('puback')).reasonCode ?? 0, 0)
  rig.sink.answer = () => fault('server_busy')
  client.tell(publish(1, 2, configured('a', inWatts)))
  t.is((await client.next('puback', 2)).reasonCode, 0x97)
  t.deepEqual(await presentationOf(rig), [])
  t.is(rig.presentations.writes, 0)
})
