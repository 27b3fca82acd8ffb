// The connection to the broker, over the mqtt library: a kept session of MQTT 3.1.1 at QoS 1, whose
// publishes come one after the other.
//
// Invariants:
//   broker/1. A publish is acknowledged after its taker resolved, and never when it rejected: the
//             broker keeps it and sends it again.

import { createHash } from 'node:crypto'

import { connect } from 'mqtt'
import type { IPublishPacket, MqttClient } from 'mqtt'

/** A publish as the broker sent it. */
export interface BrokerPublish {
  readonly topic: string
  readonly payload: Uint8Array
  /** True for a copy that the broker had kept before the subscription. */
  readonly isKeptCopy: boolean
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
const KEEP_ALIVE_SECONDS = 30

/** Connects, again and again until it is closed. */
export type ConnectBroker = (options: BrokerOptions, listener: BrokerListener) => Broker

export const connectBroker: ConnectBroker = ({ url, topics, key }, listener) => {
  const client = connect(url, {
    protocolVersion: 4,
    clean: false,
    clientId: clientIdOf(key),
    keepalive: KEEP_ALIVE_SECONDS,
    reconnectPeriod: RECONNECT_MS,
    resubscribe: false,
    queueQoSZero: false,
  })
  const take = async (packet: IPublishPacket, done: () => void): Promise<void> => {
    const { topic, retain: isKeptCopy } = packet
    const payload =
      typeof packet.payload === 'string' ? Buffer.from(packet.payload) : packet.payload
    try {
      await listener.take({ topic, payload, isKeptCopy })
    } catch {
      return // broker/1: without `done` the library sends no PUBACK and reads no further.
    }
    done()
  }
  client.handleMessage = (packet, done) => void take(packet, () => done())
  let isSubscribed = false
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
