// Sparkplug B: edge nodes and their devices, whose births say what aliases and numbers of later
// publishes mean.
//
// Invariants:
//   sparkplug/1. A gap in the sequence of an edge node, or an alias that no birth has told, asks
//                for its births: once, and again after 256 publishes without one.
//   sparkplug/2. A death takes an edge node and all its devices offline, at its arrival: its own
//                time is that of the connection. One of an earlier birth changes nothing.

import { isFault } from '#domain/fault'
import { DISCOVERED_MAX, withDiscovered } from '#domain/history/presentation'
import type { Discovered, SaidOfAttr } from '#domain/history/presentation'
import { bare } from '#domain/record'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object } from './family.ts'
import type { Read, Reader, Received, Row } from './family.ts'
import { bytesOfText } from './family-state.ts'
import type { SparkplugMetric, SparkplugNode } from './family-state.ts'
import { timeOf } from './payload.ts'
import type { Forget, Wish } from './publish.ts'
import { attrOf, readSparkplugPayload, rebirthCommand, unitOf } from './sparkplug-payload.ts'
import type { Metric, SparkplugPayload } from './sparkplug-payload.ts'
import { WISHES_MAX, described, attrs, become, thing } from './wishes.ts'
import { saidOfAttr } from '#src/schemas/history/presentation'
import { invalid } from '#src/schemas/values'

/** Some 7,000 metrics: those beyond are not learnt. */
const NODE_BYTES_MAX = 2 * 2 ** 20
/** What a metric takes beside its name, with and without its alias; and a device. */
const METRIC_BYTES = 96
const ALIAS_BYTES = 160
const DEVICE_BYTES = 96
/** The devices that the death of their node takes along, which is one more submission. */
const DEVICES_MAX = WISHES_MAX - 1
const SEQS = 256

/** A node of which nothing is known before its birth. */
const nodeOf = (seq: number, bdSeq?: number): SparkplugNode => ({
  kind: 'sparkplug',
  aliases: new Map(),
  datatypes: new Map(),
  devices: new Set(),
  seq,
  bdSeq,
  isAsked: false,
  under: [],
  bytes: 0,
})

/** A publish about an edge node or one of its devices. */
interface About {
  readonly received: Received
  readonly payload: SparkplugPayload
  /** `group/edge`, by which the node is known. */
  readonly key: string
  /** The empty text for the node itself. */
  readonly device: string
  readonly thingId: string
  readonly node: SparkplugNode
  /** The time of the payload. */
  readonly at: number
}

const sparkplug =
  (then: (of: About) => Read): Reader =>
  (received) => {
    const payload = readSparkplugPayload(received.payload)
    if (isFault(payload)) return payload
    const key = `${level(received, 'group')}/${level(received, 'edge')}`
    const device = level(received, 'device')
    const node = received.state.get('sparkplug', key) ?? nodeOf(-1)
    const thingId = entityIdOf(device === '' ? key : `${key}/${device}`)
    const at = timeOf(payload.timestamp, received.receivedAtMs)
    return then({ received, payload, key, device, thingId, node, at })
  }

/** Keeps what the node is now; returns what forgets the node. */
function keep({ received, key, node }: About): Forget {
  received.state.keep(key, node)
  return () => received.state.forget('sparkplug', key)
}

/** Takes the sequence number of a publish, and asks by a command after a gap. */
function inSequence(of: About, isKnown: boolean, isBirth = false): Read {
  const { node } = of
  const { seq = node.seq } = of.payload
  const isNext = node.seq >= 0 && seq === (node.seq + 1) % SEQS
  const isAmiss = !isNext || !isKnown
  const asks = isAmiss && (!node.isAsked || seq === 0) // sparkplug/1
  const topic = `spBv1.0/${level(of.received, 'group')}/NCMD/${level(of.received, 'edge')}`
  const payload = asks ? rebirthCommand(of.received.receivedAtMs) : undefined
  return {
    learn: () => {
      const isNew = of.received.state.get('sparkplug', of.key) === undefined
      node.seq = seq
      node.isAsked ||= isAmiss
      if (isBirth) learnDevice(of)
      const forget = keep(of)
      return isNew || isBirth ? forget : undefined
    },
    ...(payload !== undefined && { replies: [{ topic, payload }] }),
  }
}

/** Names and numbers that are the protocol's own. */
const isOwn = (name: string): boolean =>
  name === 'bdSeq' || name.startsWith('Node Control/') || name.startsWith('Device Control/')

/** The named metrics of a publish; undefined in the place of one whose alias is unknown. */
const namedIn = ({ payload, node, device }: About) =>
  payload.metrics.map((metric): (SparkplugMetric & { readonly metric: Metric }) | undefined => {
    const known = node.aliases.get(metric.alias ?? '')
    const name = metric.name ?? known?.name
    if (name === undefined) return undefined
    const datatype =
      metric.datatype ?? node.datatypes.get(`${device}/${name}`) ?? known?.datatype ?? 0
    return { name, datatype, metric }
  })

/** An update for each time that the metrics have. */
function updatesOf(of: About): readonly Wish[] {
  const byTime = new Map<number, Record<string, unknown>>()
  for (const named of namedIn(of)) {
    if (named === undefined || isOwn(named.name)) continue
    const value = attrOf(named.metric, named.datatype)
    if (value === undefined) continue
    const { receivedAtMs } = of.received
    const { timestamp } = named.metric
    const at = timestamp === undefined ? of.at : timeOf(timestamp, receivedAtMs)
    const values = byTime.get(at) ?? bare<unknown>()
    values[named.name] = value
    byTime.set(at, values)
  }
  return [...byTime].flatMap(([at, values]) => attrs(of.thingId, at, values))
}

/** Adds what the metrics of a birth say, as far as the node may grow. */
function learnMetrics({ payload, device, node }: About): void {
  for (const { name, alias, datatype = 0 } of payload.metrics) {
    if (node.bytes >= NODE_BYTES_MAX) return
    if (name === undefined) continue
    const key = `${device}/${name}`
    if (!node.datatypes.has(key)) node.bytes += METRIC_BYTES + 2 * bytesOfText(key)
    node.datatypes.set(key, datatype)
    if (alias === undefined) continue
    if (!node.aliases.has(alias)) node.bytes += ALIAS_BYTES
    node.aliases.set(alias, { name, datatype })
  }
}

function learnDevice(of: About): void {
  const { node, device } = of
  if (node.devices.size < DEVICES_MAX && !node.devices.has(device)) {
    node.devices.add(device)
    node.bytes += DEVICE_BYTES + bytesOfText(device)
  }
  learnMetrics(of)
}

const born = (of: About, name: string): Wish =>
  described(of.thingId, of.at, { title: name, facts: { online: true } })

/** The units that a birth tells, of as many metrics as are kept. */
function unitsIn({ payload }: About): Discovered {
  const said: SaidOfAttr[] = []
  for (const metric of payload.metrics) {
    const { name } = metric
    if (name === undefined || isOwn(name)) continue
    said.push(...saidOfAttr(name, undefined, unitOf(metric)))
    if (said.length === DISCOVERED_MAX) break
  }
  return withDiscovered({}, said)
}

const bdSeqOf = ({ payload }: About): number | undefined => {
  const metric = payload.metrics.find(({ name }) => name === 'bdSeq')
  return metric?.value === undefined ? undefined : Number(metric.value)
}

const nodeBirth = sparkplug((sent) => {
  const of = { ...sent, node: nodeOf(sent.payload.seq ?? 0, bdSeqOf(sent)) }
  const wishes = [born(of, level(of.received, 'edge')), ...updatesOf(of)]
  const discovered = unitsIn(of)
  const learn = (): Forget => {
    learnMetrics(of)
    return keep(of)
  }
  return { wishes, discovered, learn }
})

const deviceBirth = sparkplug((of) => {
  const wishes = [born(of, of.device), ...updatesOf(of)]
  return { ...inSequence(of, true, true), wishes, discovered: unitsIn(of) }
})

const data = sparkplug((of) => {
  const isKnown = namedIn(of).every((named) => named !== undefined)
  return { ...inSequence(of, isKnown), wishes: updatesOf(of) }
})

const nodeDeath = sparkplug((of) => {
  const bdSeq = bdSeqOf(of)
  const { key, node, received } = of
  if (bdSeq !== undefined && node.bdSeq !== undefined && bdSeq !== node.bdSeq) return become()
  const ids = [of.thingId, ...[...node.devices].map((device) => entityIdOf(`${key}/${device}`))]
  return {
    // sparkplug/2
    wishes: ids.flatMap((id) => attrs(id, received.receivedAtMs, { online: false })),
    // They are born again after it: a death that comes again tells nothing of them.
    learn: () => {
      node.devices.clear()
      return undefined
    },
  }
})

const deviceDeath = sparkplug((of) => ({
  ...inSequence(of, true),
  wishes: attrs(of.thingId, of.at, { online: false }),
}))

const host = object(({ online, timestamp }, received) => {
  if (typeof online !== 'boolean') return invalid('online', 'must be true or false')
  const at = timeOf(timestamp, received.receivedAtMs)
  return become(thing(entityIdOf(level(received, 'host')), at, { attrs: { online } }))
})

const rowFor = (word: string, read: Reader, levels: '' | '/+device'): Row => ({
  topic: `spBv1.0/+group/${word}/+edge${levels}`,
  read,
})

export const SPARKPLUG: readonly Row[] = [
  { topic: 'spBv1.0/STATE/+host', read: host },
  rowFor('NBIRTH', nodeBirth, ''),
  rowFor('NDEATH', nodeDeath, ''),
  rowFor('NDATA', data, ''),
  rowFor('NCMD', nothing, ''),
  rowFor('DBIRTH', deviceBirth, '/+device'),
  rowFor('DDEATH', deviceDeath, '/+device'),
  rowFor('DDATA', data, '/+device'),
  rowFor('DCMD', nothing, '/+device'),
]
