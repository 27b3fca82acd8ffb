// Plays packet exchanges with a session of MQTT, in lines that a test can read.

import { fault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { TOPIC_ALIAS_MAX } from '#src/mqtt/bounds'
import type {
  BrokenPacket,
  ConnectPacket,
  Packet,
  PacketReader,
  PublishPacket,
} from '#src/mqtt/codec'
import { channel } from '#test/support/session-words'
import { Session } from '#src/mqtt/session'
import type { Input, Output } from '#src/mqtt/signals'

export const connect = (more: Partial<ConnectPacket> = {}): ConnectPacket => ({
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clientId: 'sensor-1',
  clean: true,
  keepalive: 60,
  username: 'channel',
  password: Buffer.from('password'),
  ...more,
})

export const publish = (qos: 0 | 1 | 2, messageId: number, more = {}): PublishPacket => ({
  cmd: 'publish',
  topic: 'things/a',
  payload: Buffer.from('{}'),
  qos,
  dup: false,
  retain: false,
  ...(qos > 0 && { messageId }),
  ...more,
})

/** The packets that are whole with these bytes, and why there is no further one. */
export function packetsIn(reader: PacketReader, bytes: Buffer, bytesMax?: number) {
  reader.add(bytes)
  const packets: Packet[] = []
  for (;;) {
    const next: Packet | BrokenPacket | undefined = reader.next(bytesMax)
    if (typeof next !== 'object') return { packets, broken: next }
    packets.push(next)
  }
}

export const packet = (sent: Packet): Input => ({ kind: 'packet', packet: sent })
export const opened: Input = {
  kind: 'opened',
  open: { channelId: channel('A') },
  own: { remember: () => undefined, has: (opId) => opId.startsWith('own') },
  kept: undefined,
  madeId: undefined,
  keptMs: 0,
  aliasMax: TOPIC_ALIAS_MAX,
  expiresInMs: Infinity,
}
export const settled = (ticket: number, code?: FaultCode): Input => ({
  kind: 'settled',
  ticket,
  ...(code !== undefined && { fault: fault(code) }),
})

/** An input, or milliseconds that pass before a tick. */
export type Step = Input | number

/** Plays the steps against a new session; returns the lines of each step's outputs. */
export function play(steps: readonly Step[]): readonly string[][] {
  let nowMs = 0
  const session = new Session(nowMs)
  return steps.map((step) => {
    if (typeof step === 'number') nowMs += step
    const input: Input = typeof step === 'number' ? { kind: 'tick' } : step
    return session.handle(input, nowMs).map(lineOf)
  })
}

/** An output in few words: its packet with its ids and codes, or what is to be done. */
export function lineOf(output: Output): string {
  switch (output.kind) {
    case 'open':
      return `open ${output.opening.clientId}`
    case 'submit':
      return `submit ${output.ticket} ${output.publication.topic}`
    case 'close':
      return output.isClean ? 'close clean' : 'close'
    case 'follow':
      return ['follow', ...(output.kept ?? []).map(({ topic }) => topic)].join(' ')
    case 'retain':
      return `retain ${output.filters.map((levels) => levels.join('/')).join(' ')}`
    case 'release':
      return `release ${output.messageId}`
    case 'acknowledge':
      return `acknowledge ${output.seq}`
    case 'resync':
      return 'resync'
    case 'read-pages':
      return `read after ${output.requests[0]?.afterSeq}`
    case 'send':
      break
  }
  const { packet: sent } = output
  if (sent.cmd === 'publish') return publishLine(sent)
  const { cmd, messageId, reasonCode, returnCode, granted } = sent as Packet & {
    readonly reasonCode?: number
    readonly returnCode?: number
    readonly granted?: readonly number[]
  }
  if (granted !== undefined) return [cmd, messageId, ...granted.map(hex)].join(' ')
  const code = reasonCode ?? returnCode
  return [cmd, messageId, code === undefined ? undefined : hex(code)]
    .filter((part) => part !== undefined)
    .join(' ')
}

const hex = (code: number): string => `0x${code.toString(16)}`

/** QoS, packet id, topic or alias, payload, and the identifiers of its subscriptions. */
function publishLine({ qos, messageId, topic, payload, retain, properties }: PublishPacket) {
  const alias = properties?.topicAlias
  return [
    `publish ${qos}${retain ? 'r' : ''}`,
    messageId,
    alias === undefined ? topic : `${topic}@${alias}`,
    payload.toString(),
    properties?.subscriptionIdentifier,
  ]
    .filter((part) => part !== undefined)
    .join(' ')
}

/** A publish of one attr. */
export const attr = (qos: 0 | 1 | 2, messageId = 0, more = {}) =>
  publish(qos, messageId, { topic: 'things/a/attrs/t', payload: Buffer.from('20'), ...more })
