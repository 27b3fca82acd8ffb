// The connection to the broker, over the mqtt library: a kept session at QoS 1, whose publishes
// come one after the other. It speaks MQTT 5, and 3.1.1 with a broker that does not.
//
// Invariants:
//   broker/1. A publish is acknowledged after its taker resolved, and never when it rejected: the
//             broker keeps it and sends it again.
//   broker/2. A broker of MQTT 5 sends no packet beyond PACKET_BYTES_MAX, and no more than
//             RECEIVE_MAX that are not acknowledged. One of 3.1.1 that sends a larger packet is
//             left, so what is held of it is bounded.
//   broker/3. Whatever ends or refuses a connection, another one is tried.

import { createHash } from 'node:crypto'

import { connect } from 'mqtt'
import type { IPublishPacket, MqttClient } from 'mqtt'

/** A publish as the broker sent it. */
export interface BrokerPublish {
  readonly topic: string
  readonly payload: Uint8Array
  /** True for a copy that the broker had kept before the subscription. */
  readonly isKeptCopy: boolean
  /** True when the broker may have sent it before. */
  readonly isRepeat: boolean
}

export interface BrokerOptions {
  /** May hold a password. */
  readonly url: string
  readonly topics: readonly string[]
  /** A secret, of which the session's name is made: one channel has one session. */
  readonly key: string
}

/** What the connection tells, and asks. */
export interface BrokerListener {
  /** Resolves when the publish may be acknowledged; rejects when it must stay with the broker. */
  readonly take: (publish: BrokerPublish) => Promise<void>
  readonly connected: () => void
  readonly lost: () => void
  /** A sentence without secrets. */
  readonly failed: (reason: string) => void
}

export interface Broker {
  /** Publishes at QoS 0, if connected. */
  publish(topic: string, payload: Uint8Array): void
  /** Leaves at once; the broker keeps the session. */
  close(): Promise<void>
}

const RECONNECT_MS = 1_000
/** Lists of devices that hubs publish have up to 1 MiB. */
export const PACKET_BYTES_MAX = 2 ** 20
const RECEIVE_MAX = 20
/** Bytes that a stream may be ahead of the packet that is being taken. */
const AHEAD_MAX = 256 * 1_024
const SESSION_FOR_EVER = 0xffff_ffff
/** A broker refuses a version that it does not speak by one of these codes or errors. */
const UNANSWERED: ReadonlySet<unknown> = new Set([1, 0x84, 'ECONNRESET', 'EPIPE'])
const KEEP_ALIVE_SECONDS = 30

/** Connects, again and again until it is closed. */
export type ConnectBroker = (options: BrokerOptions, listener: BrokerListener) => Broker

export const connectBroker: ConnectBroker = ({ url, topics, key }, listener) => {
  const client = connect(url, {
    protocolVersion: 5,
    properties: {
      sessionExpiryInterval: SESSION_FOR_EVER,
      receiveMaximum: RECEIVE_MAX, // broker/2
      maximumPacketSize: PACKET_BYTES_MAX, // broker/2
    },
    clean: false,
    clientId: clientIdOf(key),
    keepalive: KEEP_ALIVE_SECONDS,
    reconnectPeriod: RECONNECT_MS,
    reconnectOnConnackError: true, // broker/3
    resubscribe: false,
    queueQoSZero: false,
  })
  const take = async (packet: IPublishPacket, done: () => void): Promise<void> => {
    const { topic, retain: isKeptCopy, dup: isRepeat } = packet
    const payload =
      typeof packet.payload === 'string' ? Buffer.from(packet.payload) : packet.payload
    try {
      await listener.take({ topic, payload, isKeptCopy, isRepeat })
    } catch {
      return // broker/1: without `done` the library sends no PUBACK and reads no further.
    }
    done()
  }
  client.handleMessage = (packet, done) => void take(packet, () => done())
  let isSubscribed = false
  boundPackets(client, listener)
  fallBack(client)
  client.on('connect', ({ sessionPresent }) => {
    listener.connected()
    // The session may be of another process, which had other topics.
    if (sessionPresent && isSubscribed) return
    isSubscribed = false
    client.subscribe([...topics], { qos: 1 }, (error, granted = []) => {
      isSubscribed = error === null && granted.every(({ qos }) => qos < 128)
      if (!isSubscribed && client.connected) listener.failed('the broker refused a subscription')
    })
  })
  client.on('close', () => listener.lost())
  client.on('error', (error) => listener.failed(reasonOf(error)))
  return {
    publish: (topic, payload) => void client.publish(topic, Buffer.from(payload), { qos: 0 }),
    close: () => ended(client),
  }
}

/** Leaves a broker that sends a packet beyond the bound. (broker/2) */
function boundPackets(client: MqttClient, { failed }: BrokerListener): void {
  let taken = 0
  const readBy = (): number => ('bytesRead' in client.stream ? Number(client.stream.bytesRead) : 0)
  const watch = (): void => {
    taken = 0
    const { stream } = client
    stream.on('data', () => {
      if (readBy() - taken <= PACKET_BYTES_MAX + AHEAD_MAX) return
      failed(`the broker sends a packet beyond ${PACKET_BYTES_MAX} bytes`)
      stream.destroy()
    })
  }
  client.on('packetreceive', () => void (taken = readBy()))
  // The first packet of each connection.
  client.on('packetsend', ({ cmd }) => {
    if (cmd === 'connect') watch()
  })
}

/**
 * Tries 3.1.1 after a CONNECT of 5 that the broker refused for its version or ended without an
 * answer, and 5 again with the connection after that.
 */
function fallBack(client: MqttClient): void {
  let isUnanswered = true
  client.on('reconnect', () => void (isUnanswered = true))
  client.on('connect', () => void (isUnanswered = false))
  client.on('error', (error) => {
    isUnanswered &&= 'code' in error && UNANSWERED.has(error.code)
  })
  client.on('close', () => {
    const { options } = client
    options.protocolVersion = isUnanswered && options.protocolVersion === 5 ? 4 : 5
  })
}

const ended = async (client: MqttClient): Promise<void> => {
  await client.endAsync(true)
}

/** 23 letters and digits, as every broker takes them. */
const clientIdOf = (key: string): string =>
  `heliograph${createHash('sha256').update(`mqtt-bridge:${key}`).digest('hex').slice(0, 13)}`

/** The code of an error; its message may quote the address. */
const reasonOf = (error: Error): string =>
  'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
    ? `the connection to the broker failed: ${error.code}`
    : 'the connection to the broker failed'
