// Goal: the bridge acknowledges what the log has or what never can be taken, and nothing else.
// Method: a broker of the test's own hands publishes over; acceptance answers by a script.

import test from 'ava'

import { fault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { parseChannelId, parseThingId } from '#domain/identity'
import { Bridge } from '#src/mqtt/bridge/bridge'
import type { BridgePorts } from '#src/mqtt/bridge/bridge'
import type { Broker, BrokerListener } from '#src/mqtt/bridge/broker'
import { isFault } from '#domain/fault'
import { readMappings } from '#src/schemas/mappings/mapping'
import type { Mapping } from '#src/schemas/mappings/mapping'
import { ARRIVED } from '#test/support/device-publish'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { CHANNEL } from '#test/support/making'
import { sparkplugBytes } from '#test/support/sparkplug'

const KEY = 'k'.repeat(43)
const SENSOR = { topic: 'tele/plug/SENSOR', payload: Buffer.from('{"A":1}'), isKeptCopy: false }
const ACTION = { ...SENSOR, topic: 'zigbee2mqtt/b', payload: Buffer.from('{"action":"x"}') }

const CHANNEL_ID = parseChannelId(CHANNEL) ?? fail()

function fail(): never {
  throw new Error('bad fixture')
}

interface Given {
  /** The refusals of the key, before it opens its channel. */
  readonly keys?: readonly (FaultCode | 'reject')[]
  readonly kept?: readonly Mapping[]
}

/** A bridge whose acceptance refuses by the given codes, one a submission, and then takes all. */
function rig(refusals: readonly (FaultCode | 'reject')[] = [], { keys, kept = [] }: Given = {}) {
  const refusedKeys = [...(keys ?? [])]
  const waits: number[] = []
  let waited = (): void => {}
  const runtime: BridgePorts['runtime'] = {
    nowMs: () => ARRIVED,
    wait: async (delayMs) => {
      waits.push(delayMs)
      waited()
    },
    entropy: (bytes) => Buffer.alloc(bytes, waits.length),
  }
  const meter = new FakeMeter()
  const logger = new FakeLogger()
  const submitted: Readonly<Record<string, unknown>>[] = []
  const sent: string[] = []
  let listener: BrokerListener | undefined
  let isClosed = false
  const broker: Broker = {
    publish: (topic) => void sent.push(topic),
    close: async () => void (isClosed = true),
  }
  const left = [...refusals]
  const submit: BridgePorts['submissions']['submit'] = (_intent, fields) => {
    submitted.push(fields as Readonly<Record<string, unknown>>)
    const code = left.shift()
    if (code === 'reject') return Promise.reject(new Error('the store is away'))
    if (code !== undefined) return fault(code)
    const entityId = parseThingId('t')
    if (entityId === undefined) throw new Error('no id')
    return { model: 'thing', opId: 'o' as never, entityId }
  }
  const connect: BridgePorts['connect'] = (_options, given) => {
    listener = given
    isClosed = false
    return broker
  }
  let changed = async (_isOurs: boolean): Promise<void> => {}
  const alone: BridgePorts['alone'] = async (_, given) => {
    changed = given
    await given(true)
    return () => given(false)
  }
  const opened: string[] = []
  const access: BridgePorts['access'] = {
    enter: async (fields) => {
      opened.push(JSON.stringify(fields))
      const code = refusedKeys.shift()
      if (code === 'reject') throw new Error('the store is away')
      return code === undefined ? { channelId: CHANNEL_ID } : fault(code)
    },
  }
  const mappings = {
    of: () => [...kept],
    unmapped: (...noted: unknown[]) => void unmapped.push(noted),
  }
  const unmapped: unknown[][] = []
  const ports = {
    connect,
    alone,
    submissions: { submit },
    access,
    mappings,
    runtime,
    meter,
    logger,
  }
  const bridge = new Bridge(ports, { url: 'mqtt://b', topics: ['#'], key: KEY })
  bridge.start()
  if (listener === undefined) throw new Error('the bridge did not connect')
  const onWait = (call: () => void) => void (waited = call)
  const own = (isOurs: boolean): Promise<void> => changed(isOurs)
  const isOpen = (): boolean => !isClosed
  return {
    ...ports,
    bridge,
    submitted,
    opened,
    unmapped,
    sent,
    listener,
    waits,
    onWait,
    own,
    isOpen,
  }
}

const total = (meter: FakeMeter, outcome: string): number =>
  meter.total(`bridge_publishes_total{${outcome}}`)

test('bridge/1: a publish is acknowledged when its submission is accepted, under the key', async (t) => {
  const { listener, submitted, meter } = rig()
  await listener.take(SENSOR)
  t.deepEqual(submitted, [
    { attrs: { A: 1 }, thing_id: 'plug', observed_at: ARRIVED, password: KEY },
  ])
  t.is(total(meter, 'accepted'), 1)
})

const passing: readonly (FaultCode | 'reject')[] = [
  'server_busy',
  'submission_not_accepted',
  'submission_outcome_unknown',
  'channel_not_found',
  'key_expired',
  'reject',
]

test('bridge/1: what keeps every submission out leaves the publish waiting until it is taken', async (t) => {
  const { listener, submitted, meter, waits } = rig(passing)
  await listener.take(SENSOR)
  t.is(submitted.length, passing.length + 1)
  t.deepEqual(waits, [100, 200, 400, 800, 1_600, 3_200])
  t.is(meter.total('bridge_retries_total'), passing.length)
  t.is(total(meter, 'accepted'), 1)
})

test('the pauses between attempts have a bound', async (t) => {
  const { listener, waits } = rig(Array.from({ length: 12 }, () => 'server_busy'))
  await listener.take(SENSOR)
  t.is(Math.max(...waits), 5_000)
})

test('bridge/1: one of several submissions is tried again alone, and a Message under one op_id', async (t) => {
  const both = { ...ACTION, payload: Buffer.from('{"action":"x","battery":1}') }
  const { listener, submitted } = rig(['key_scope', 'submission_outcome_unknown'])
  await listener.take(both)
  const [state, first, again] = submitted
  t.is(submitted.length, 3)
  t.deepEqual(state?.['attrs'], { battery: 1 })
  t.regex(String(first?.['op_id']), /^bridge-[0-9a-f]{32}$/)
  t.deepEqual(again, first)
})

test('bridge/1: a publish that never can be taken is acknowledged, counted and told at debug', async (t) => {
  const { listener, submitted, meter, logger } = rig(['key_scope'])
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
  const { listener, submitted, opened, unmapped } = rig([], {
    kept,
    keys: ['key_expired', 'reject'],
  })
  await listener.take({ ...SENSOR, topic: 'a/pump' })
  await listener.take({ ...SENSOR, topic: 'a/b/c' })
  t.like(submitted[0], { thing_id: 'pump', attrs: { A: 1 } })
  t.deepEqual(opened, Array(3).fill(JSON.stringify({ password: KEY })))
  t.deepEqual(unmapped, [[CHANNEL_ID, 'a/b/c', ARRIVED]])
})

test('copies that the broker had kept repeat no Message', async (t) => {
  const { listener, submitted } = rig()
  await listener.take({ ...ACTION, isKeptCopy: true })
  t.deepEqual(submitted, [])
})

test('an edge node of Sparkplug whose births were missed is asked for them', async (t) => {
  const { listener, sent } = rig()
  const payload = sparkplugBytes({ seq: 5n })
  await listener.take({ topic: 'spBv1.0/g/NDATA/e', payload, isKeptCopy: false })
  await listener.take({ topic: 'spBv1.0/g/NDATA/e', payload, isKeptCopy: false })
  t.deepEqual(sent, ['spBv1.0/g/NCMD/e'])
})

test('bridge/1: a publish that waits when the bridge stops stays with the broker', async (t) => {
  const { bridge, listener, onWait, isOpen } = rig(['server_busy', 'server_busy'])
  const stopping: Promise<void>[] = []
  onWait(() => stopping.push(bridge.stop()))
  await t.throwsAsync(listener.take(SENSOR), { message: 'the bridge is stopping' })
  t.is(stopping.length, 1)
  await Promise.all(stopping)
  t.false(isOpen())
  await t.throwsAsync(listener.take(SENSOR))
})

test('bridge/2: a node that loses the bridge leaves the broker, and takes publishes when it has it again', async (t) => {
  const { own, isOpen, listener, submitted } = rig()
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
  const { listener, meter } = rig()
  const isConnected = meter.gauges.get('bridge_connected')
  t.is(isConnected?.(), 0)
  listener.connected()
  t.is(isConnected?.(), 1)
  listener.lost()
  t.is(isConnected?.(), 0)
})

test('a broker that is away is told once, and again after it was there', (t) => {
  const { listener, logger } = rig()
  for (const step of ['failed', 'failed', 'connected', 'lost', 'failed', 'failed'] as const) {
    listener[step]('the connection to the broker failed: ECONNREFUSED')
  }
  t.deepEqual(
    logger.lines.map(({ level }) => level),
    ['warn', 'info', 'warn', 'warn'],
  )
})
