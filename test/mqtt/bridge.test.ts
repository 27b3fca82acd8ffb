// Goal: the bridge acknowledges what the log has or what never can be taken, and nothing else.
// Method: a broker of the test's own hands publishes over; acceptance answers by a script.

import test from 'ava'

import { isFault } from '#domain/fault'
import { readMappings } from '#src/schemas/mappings/mapping'
import { ACTION, CHANNEL_ID, KEY, SENSOR, bridgeRig, total } from '#test/support/bridge-rig'
import type { Refusal } from '#test/support/bridge-rig'
import { ARRIVED } from '#test/support/device-publish'
import { sparkplugBytes } from '#test/support/sparkplug'

test('bridge/1: a publish is acknowledged when its submission is accepted, under the key', async (t) => {
  const { listener, submitted, meter } = bridgeRig()
  await listener.take(SENSOR)
  t.deepEqual(submitted, [
    { attrs: { A: 1 }, thing_id: 'plug', observed_at: ARRIVED, password: KEY },
  ])
  t.is(total(meter, 'accepted'), 1)
})

const passing: readonly Refusal[] = [
  'server_busy',
  'submission_not_accepted',
  'submission_outcome_unknown',
  'channel_not_found',
  'key_expired',
  'reject',
]

test('bridge/1: what keeps every submission out leaves the publish waiting until it is taken', async (t) => {
  const { listener, submitted, meter, waits } = bridgeRig(passing)
  await listener.take(SENSOR)
  t.is(submitted.length, passing.length + 1)
  t.deepEqual(waits, [100, 200, 400, 800, 1_600, 3_200])
  t.is(meter.total('bridge_retries_total'), passing.length)
  t.is(total(meter, 'accepted'), 1)
})

test('the pauses between attempts have a bound', async (t) => {
  const { listener, waits } = bridgeRig(Array.from({ length: 12 }, () => 'server_busy'))
  await listener.take(SENSOR)
  t.is(Math.max(...waits), 5_000)
})

test('bridge/1: one of several submissions is tried again alone, and a Message under one op_id', async (t) => {
  const both = { ...ACTION, payload: Buffer.from('{"action":"x","battery":1}') }
  const { listener, submitted } = bridgeRig(['key_scope', 'submission_outcome_unknown'])
  await listener.take(both)
  const [state, first, again] = submitted
  t.is(submitted.length, 3)
  t.deepEqual(state?.['attrs'], { battery: 1 })
  t.regex(String(first?.['op_id']), /^bridge-[0-9a-f]{32}$/)
  t.deepEqual(again, first)
})

test('bridge/1: a publish that never can be taken is acknowledged, counted and told at debug', async (t) => {
  const { listener, submitted, meter, logger } = bridgeRig(['key_scope'])
  await listener.take(SENSOR)
  await listener.take({ ...SENSOR, payload: Buffer.from('{') })
  await listener.take({ ...SENSOR, topic: 'a/b/c' })
  await listener.take({ ...SENSOR, topic: 'zigbee2mqtt/bridge/info', payload: Buffer.from('{}') })
  t.is(submitted.length, 1)
  t.deepEqual(
    ['refused', 'unmapped', 'nothing', 'accepted'].map((outcome) => total(meter, outcome)),
    [2, 1, 1, 0],
  )
  const told = logger.lines.filter(({ level }) => level === 'debug').map(({ fields }) => fields)
  t.deepEqual(told, [
    { topic: SENSOR.topic, code: 'key_scope', field: undefined },
    { topic: SENSOR.topic, code: 'validation_failed', field: 'payload' },
  ])
  t.false(JSON.stringify(logger.lines).includes(KEY))
})

test("publishes are read by the mappings of the key's channel, and other topics are noted", async (t) => {
  const kept = readMappings([{ topic: 'a/+thing', thing: '{thing}' }])
  if (isFault(kept)) throw new Error(kept.detail)
  const { listener, submitted, opened, unmapped } = bridgeRig([], {
    kept,
    keys: ['key_expired', 'reject'],
  })
  await listener.take({ ...SENSOR, topic: 'a/pump' })
  await listener.take({ ...SENSOR, topic: 'a/b/c' })
  t.like(submitted[0], { thing_id: 'pump', attrs: { A: 1 } })
  t.deepEqual(opened, Array(3).fill(JSON.stringify({ password: KEY })))
  t.deepEqual(unmapped, [[CHANNEL_ID, 'a/b/c', ARRIVED]])
})

test('what a taken discovery says of attrs is noted, and nothing of a refused one', async (t) => {
  const { listener, discovered } = bridgeRig(['key_scope'])
  const topic = 'homeassistant/sensor/a/config'
  const config = { state_topic: 'a/b', name: 'Power', unit_of_measurement: 'W' }
  const sent = { ...SENSOR, topic, payload: Buffer.from(JSON.stringify(config)) }
  await listener.take(sent)
  t.deepEqual(discovered, [])
  await listener.take(sent)
  t.like(discovered, [[{ channelId: CHANNEL_ID }, { a: { label: 'Power', unit: 'W' } }]])
})

test('copies that the broker had kept repeat no Message', async (t) => {
  const { listener, submitted } = bridgeRig()
  await listener.take({ ...ACTION, isKeptCopy: true })
  t.deepEqual(submitted, [])
})

test('an edge node of Sparkplug whose births were missed is asked for them', async (t) => {
  const { listener, sent } = bridgeRig()
  const payload = sparkplugBytes({ seq: 5n })
  await listener.take({ ...SENSOR, topic: 'spBv1.0/g/NDATA/e', payload })
  await listener.take({ ...SENSOR, topic: 'spBv1.0/g/NDATA/e', payload })
  t.deepEqual(sent, ['spBv1.0/g/NCMD/e'])
})

test('bridge/1: a publish that waits when the bridge stops stays with the broker', async (t) => {
  const { bridge, listener, onWait, isOpen } = bridgeRig(['server_busy', 'server_busy'])
  const stopping: Promise<void>[] = []
  onWait(() => stopping.push(bridge.stop()))
  await t.throwsAsync(listener.take(SENSOR), { message: 'the bridge is stopping' })
  t.is(stopping.length, 1)
  await Promise.all(stopping)
  t.false(isOpen())
  await t.throwsAsync(listener.take(SENSOR))
})

test('bridge/2: a node that loses the bridge leaves the broker, and takes publishes when it has it again', async (t) => {
  const { own, isOpen, listener, submitted } = bridgeRig()
  t.true(isOpen())
  await own(false)
  t.false(isOpen())
  await t.throwsAsync(listener.take(SENSOR), { message: 'the bridge is stopping' })
  await own(true)
  t.true(isOpen())
  await listener.take(SENSOR)
  t.is(submitted.length, 1)
})

test('the metric says whether the bridge has its broker', (t) => {
  const { listener, meter } = bridgeRig()
  const isConnected = meter.gauges.get('bridge_connected')
  t.is(isConnected?.(), 0)
  listener.connected()
  t.is(isConnected?.(), 1)
  listener.lost()
  t.is(isConnected?.(), 0)
})

test('a broker that is away is told once, and again after it was there', (t) => {
  const { listener, logger } = bridgeRig()
  for (const step of ['failed', 'failed', 'connected', 'lost', 'failed', 'failed'] as const) {
    listener[step]('the connection to the broker failed: ECONNREFUSED')
  }
  t.deepEqual(
    logger.lines.map(({ level }) => level),
    ['warn', 'info', 'warn', 'warn'],
  )
})
