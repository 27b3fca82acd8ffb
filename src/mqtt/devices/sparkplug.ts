// Sparkplug B: edge nodes and their devices, whose births say what aliases and numbers of later
// publishes mean.
//
// Invariants:
//   sparkplug/1. A gap in the sequence of an edge node, or an alias that no birth has told, asks
//                for its births: once, and again after 256 publishes without one.
//   sparkplug/2. A death takes an edge node and all its devices offline, at its arrival: its own
//                time is that of the connection. One of an earlier birth changes nothing.

import { isFault } from '#domain/fault'
import { bare } from '#domain/record'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object } from './family.ts'
import type { Read, Reader, Received, Row } from './family.ts'
import { withKnown } from './family-state.ts'
import type { SparkplugMetric, SparkplugNode } from './family-state.ts'
import { timeOf } from './payload.ts'
import type { Wish } from './publish.ts'
import { attrOf, readSparkplugPayload, rebirthCommand } from './sparkplug-payload.ts'
import type { Metric, SparkplugPayload } from './sparkplug-payload.ts'
import { described, attrs, become, thing } from './wishes.ts'
import { invalid } from '#src/schemas/values'

const NODES_MAX = 1_000
const METRICS_OF_NODE_MAX = 20_000
const SEQS = 256

const UNBORN: SparkplugNode = {
  aliases: new Map(),
  datatypes: new Map(),
  devices: [],
  seq: -1,
  isAsked: false,
}

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
    const node = received.state.sparkplug.get(key) ?? UNBORN
    const thingId = entityIdOf(device === '' ? key : `${key}/${device}`)
    const at = timeOf(payload.timestamp, received.receivedAtMs)
    return then({ received, payload, key, device, thingId, node, at })
  }

const withNode = ({ received, key }: About, value: SparkplugNode): Read => ({
  state: {
    ...received.state,
    sparkplug: withKnown(received.state.sparkplug, key, { value, max: NODES_MAX }),
  },
})

/** The node after the sequence number of a publish, and the command that a gap asks for. */
function inSequence(of: About, node: SparkplugNode, isKnown: boolean): Read {
  const { seq = node.seq } = of.payload
  const isNext = node.seq >= 0 && seq === (node.seq + 1) % SEQS
  const isAmiss = !isNext || !isKnown
  const asks = isAmiss && (!node.isAsked || seq === 0) // sparkplug/1
  const topic = `spBv1.0/${level(of.received, 'group')}/NCMD/${level(of.received, 'edge')}`
  const payload = asks ? rebirthCommand(of.received.receivedAtMs) : undefined
  return {
    ...withNode(of, { ...node, seq, isAsked: node.isAsked || isAmiss }),
    ...(payload !== undefined && { replies: [{ topic, payload }] }),
  }
}

/** Names and numbers that are the protocol's own. */
const isOwn = (name: string): boolean =>
  name === 'bdSeq' || name.startsWith('Node Control/') || name.startsWith('Device Control/')

/** The named metrics of a publish; undefined in the place of one whose alias is unknown. */
const namedIn = ({ payload, node, device }: About, learnt = node) =>
  payload.metrics.map((metric): (SparkplugMetric & { readonly metric: Metric }) | undefined => {
    const known = learnt.aliases.get(metric.alias ?? '')
    const name = metric.name ?? known?.name
    if (name === undefined) return undefined
    const datatype =
      metric.datatype ?? learnt.datatypes.get(`${device}/${name}`) ?? known?.datatype ?? 0
    return { name, datatype, metric }
  })

/** An update for each time that the metrics have. */
function updatesOf(of: About, learnt: SparkplugNode): readonly Wish[] {
  const byTime = new Map<number, Record<string, unknown>>()
  for (const named of namedIn(of, learnt)) {
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

function learn(of: About, node: SparkplugNode): SparkplugNode {
  const aliases = new Map(node.aliases)
  const datatypes = new Map(node.datatypes)
  for (const { name, alias, datatype = 0 } of of.payload.metrics) {
    if (name === undefined || datatypes.size >= METRICS_OF_NODE_MAX) continue
    datatypes.set(`${of.device}/${name}`, datatype)
    if (alias !== undefined) aliases.set(alias, { name, datatype })
  }
  return { ...node, aliases, datatypes }
}

const born = (of: About, name: string): Wish =>
  described(of.thingId, of.at, { title: name, facts: { online: true } })

const bdSeqOf = ({ payload }: About): number | undefined => {
  const metric = payload.metrics.find(({ name }) => name === 'bdSeq')
  return metric?.value === undefined ? undefined : Number(metric.value)
}

const nodeBirth = sparkplug((of) => {
  const bdSeq = bdSeqOf(of)
  const fresh = { ...UNBORN, seq: of.payload.seq ?? 0, ...(bdSeq !== undefined && { bdSeq }) }
  const node = learn(of, fresh)
  const wishes = [born(of, level(of.received, 'edge')), ...updatesOf(of, node)]
  return { ...withNode(of, node), wishes }
})

const deviceBirth = sparkplug((of) => {
  const others = of.node.devices.filter((device) => device !== of.device)
  const node = learn(of, { ...of.node, devices: [...others, of.device] })
  const wishes = [born(of, of.device), ...updatesOf(of, node)]
  return { ...inSequence(of, node, true), wishes }
})

const data = sparkplug((of) => {
  const isKnown = namedIn(of).every((named) => named !== undefined)
  return { ...inSequence(of, of.node, isKnown), wishes: updatesOf(of, of.node) }
})

const nodeDeath = sparkplug((of) => {
  const bdSeq = bdSeqOf(of)
  const { key, node, received } = of
  if (bdSeq !== undefined && node.bdSeq !== undefined && bdSeq !== node.bdSeq) return become()
  const ids = [of.thingId, ...node.devices.map((device) => entityIdOf(`${key}/${device}`))]
  // sparkplug/2
  return become(...ids.flatMap((id) => attrs(id, received.receivedAtMs, { online: false })))
})

const deviceDeath = sparkplug((of) => ({
  ...inSequence(of, of.node, true),
  wishes: attrs(of.thingId, of.at, { online: false }),
}))

const host = object(({ online, timestamp }, received) => {
  if (typeof online !== 'boolean') return invalid('online', 'must be true or false')
  const at = timeOf(timestamp, received.receivedAtMs)
  return become(thing(entityIdOf(level(received, 'host')), at, { attrs: { online } }))
})

const rowsOf = (word: string, read: Reader, levels: '' | '/+device'): Row => ({
  topic: `spBv1.0/+group/${word}/+edge${levels}`,
  read,
})

export const SPARKPLUG: readonly Row[] = [
  { topic: 'spBv1.0/STATE/+host', read: host },
  rowsOf('NBIRTH', nodeBirth, ''),
  rowsOf('NDEATH', nodeDeath, ''),
  rowsOf('NDATA', data, ''),
  rowsOf('NCMD', nothing, ''),
  rowsOf('DBIRTH', deviceBirth, '/+device'),
  rowsOf('DDEATH', deviceDeath, '/+device'),
  rowsOf('DDATA', data, '/+device'),
  rowsOf('DCMD', nothing, '/+device'),
]
