// The bridge over a broker of the test's own, and acceptance that answers by a script.

import type { KeyScope } from '#domain/channel-keys'
import { fault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { parseChannelId, parseThingId } from '#domain/identity'
import { Bridge } from '#src/mqtt/bridge/bridge'
import type { BridgePorts } from '#src/mqtt/bridge/bridge'
import type { Broker, BrokerListener } from '#src/mqtt/bridge/broker'
import type { Mapping } from '#src/schemas/mappings/mapping'
import { ARRIVED } from '#test/support/device-publish'
import { FakeMqttSessions } from '#test/support/fake-mqtt-sessions'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { CHANNEL } from '#test/support/making'

export const KEY = 'k'.repeat(43)
export const SENSOR = {
  topic: 'tele/plug/SENSOR',
  payload: Buffer.from('{"A":1}'),
  isKeptCopy: false,
  isRepeat: false,
}
export const ACTION = { ...SENSOR, topic: 'zigbee2mqtt/b', payload: Buffer.from('{"action":"x"}') }

export const CHANNEL_ID = parseChannelId(CHANNEL) ?? fail()

const BRIDGE_KEY = {
  keyId: '1',
  keyHash: '',
  label: 'bridge',
  channelId: CHANNEL_ID,
  thingPrefix: '',
  expiresAt: 0,
  lastUsedOn: 0,
}

function fail(): never {
  throw new Error('bad fixture')
}

/** `never`: the process ends before the answer. */
export type Refusal = FaultCode | 'reject' | 'never'

export interface Given {
  /** The refusals of the key, before it opens its channel. */
  readonly keys?: readonly Refusal[]
  readonly kept?: readonly Mapping[]
  /** Those of the bridges before. */
  readonly sessions?: FakeMqttSessions
  /** What the key may do; a password that opened has none. */
  readonly scopes?: readonly KeyScope[]
}

/** A bridge whose acceptance refuses by the given codes, one a submission, and then takes all. */
export function bridgeRig(
  refusals: readonly Refusal[] = [],
  { keys, kept = [], sessions, scopes }: Given = {},
) {
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
    if (code === 'never') return new Promise(() => undefined)
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
      if (code === 'reject' || code === 'never') throw new Error('the store is away')
      if (code !== undefined) return fault(code)
      return { channelId: CHANNEL_ID, ...(scopes && { key: { ...BRIDGE_KEY, scopes } }) }
    },
  }
  const mappings = {
    of: () => [...kept],
    unmapped: (...noted: unknown[]) => void unmapped.push(noted),
  }
  const unmapped: unknown[][] = []
  const discovered: unknown[][] = []
  const presentation = { discovered: (...said: unknown[]) => void discovered.push(said) }
  const mqttSessions = sessions ?? new FakeMqttSessions()
  const ports = {
    mqttSessions,
    connect,
    alone,
    submissions: { submit },
    access,
    mappings,
    presentation,
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
    discovered,
    sent,
    listener,
    waits,
    onWait,
    own,
    isOpen,
  }
}

/** Publishes with an outcome. */
export const total = (meter: FakeMeter, outcome: string): number =>
  meter.total(`bridge_publishes_total{${outcome}}`)
