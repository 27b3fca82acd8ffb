// An MQTT client with a kept session: it publishes at QoS 1 and 2, repeats what was not acknowledged
// whenever it comes back, and follows its channel. It reads the protocol by itself.

import { createHash } from 'node:crypto'

import type { IPublishPacket, Packet } from 'mqtt-packet'

import type { Channel } from './clients.ts'
import { between } from './chance.ts'
import type { Network } from './device-connection.ts'
import { MqttConnection } from './mqtt-connection.ts'
import type { MqttDestination } from './mqtt-connection.ts'
import type { Observations, Sent } from './observations.ts'

export interface MqttClientParts extends Network {
  readonly number: number
  readonly channel: Channel
  readonly observations: Observations
  /** A gateway that takes connections; undefined while there is none. */
  readonly find: () => MqttDestination | undefined
}

interface Open {
  readonly packet: IPublishPacket
  readonly sent: Sent
  isReleased: boolean
}

const KEPT_S = 86_400
const SUBSCRIPTIONS = ['messages', 'events/#']
const IN_FLIGHT_MAX = 10
/** The client gives a connection up on which an answer is missing for so long. */
const SILENT_MS = 20_000
const KEEP_ALIVE_S = 60

export class SimulatedMqttClient {
  readonly name: string
  readonly deviceId: string
  readonly channel: Channel
  /** op_ids of the Messages and Events that it got. */
  readonly got = new Set<string>()
  readonly #parts: MqttClientParts
  readonly #clientId: string
  readonly #level: 4 | 5
  readonly #waiting: Sent[] = []
  readonly #open = new Map<number, Open>()
  #connection: MqttConnection | undefined
  /** True once this connection brings what is published. */
  #isSubscribed = false
  /** True once the session has the subscriptions. */
  #isKept = false
  #packetId = 0
  #seen = 0
  #refusals = 0

  constructor(parts: MqttClientParts) {
    const { number, channel, chance } = parts
    this.#parts = parts
    this.channel = channel
    this.#clientId = `client-${number}`
    this.name = `mqtt ${this.#clientId}`
    const named = `mqtt:${channel.id}/${this.#clientId}`
    this.deviceId = createHash('sha256').update(named).digest('hex')
    this.#level = chance(2) === 0 ? 4 : 5
    this.#later(between(chance, 0, 2_000))
  }

  /** Names what is not at rest; '' when everything is. */
  get restless(): string {
    if (this.channel.isDeleted || this.channel.isInDoubt) return ''
    if (!this.#isSubscribed) return `${this.name} is not connected`
    return this.#open.size + this.#waiting.length > 0 ? `${this.name} is not answered` : ''
  }

  /** True when it can name what it publishes. */
  get canName(): boolean {
    return this.#level === 5
  }

  /** Publishes a Message as soon as it can. */
  publish(sent: Sent): void {
    this.#waiting.push(sent)
    this.#sendOn()
  }

  /** The network breaks; the gateway learns of it at once or never. */
  cut(): void {
    const { chance } = this.#parts
    this.#connection?.break(chance(2) === 0)
    this.#ended(this.#connection)
  }

  #later(delayMs: number): void {
    this.#parts.time.after(delayMs, () => this.#connect())
  }

  #connect(): void {
    const { channel, number, find, chance } = this.#parts
    if (this.#connection !== undefined || channel.isDeleted) return
    const found = find()
    if (found === undefined) return this.#later(between(chance, 200, 2_000))
    const connection: MqttConnection = new MqttConnection(this.#parts, found, {
      address: `198.51.100.${number}`,
      level: this.#level,
      hear: (packet) => {
        if (this.#connection === connection) this.#hear(connection, packet)
      },
      end: () => this.#ended(connection),
    })
    this.#connection = connection
    this.#seen = 0
    // Somebody who tries a new password does not know whether it is the present one.
    const isOther = this.#refusals % 2 === 1
    const password = (isOther ? channel.candidate : undefined) ?? channel.password
    connection.say({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: this.#level,
      clientId: this.#clientId,
      clean: false,
      keepalive: KEEP_ALIVE_S,
      username: channel.id,
      password: Buffer.from(password),
      ...(this.#level === 5 && { properties: { sessionExpiryInterval: KEPT_S } }),
    })
    this.#watch(connection)
  }

  /** Leaves a connection over which an answer does not come. */
  #watch(connection: MqttConnection): void {
    this.#parts.time.after(SILENT_MS, () => {
      if (this.#connection !== connection) return
      if (this.restless === '') return this.#watch(connection)
      connection.break(true)
      this.#ended(connection)
    })
  }

  #ended(connection: MqttConnection | undefined): void {
    if (connection === undefined || this.#connection !== connection) return
    this.#connection = undefined
    this.#isSubscribed = false
    this.#later(between(this.#parts.chance, 50, 3_000))
  }

  #hear(connection: MqttConnection, packet: Packet): void {
    const { messageId = 0, cmd } = packet
    this.#parts.observations.note(`${this.name} < ${cmd} ${messageId}`)
    if (packet.cmd === 'connack') this.#entered(connection, packet)
    else if (packet.cmd === 'publish') this.#take(connection, packet)
    else if (packet.cmd === 'puback' || packet.cmd === 'pubrec') {
      this.#acknowledged(connection, packet)
    } else if (packet.cmd === 'suback') {
      this.#isKept = packet.granted.every((code) => Number(code) < 0x80)
      this.#isSubscribed = this.#isKept
    } else if (packet.cmd === 'pubcomp') this.#open.delete(messageId)
    this.#sendOn()
  }

  #entered(connection: MqttConnection, answer: Packet & { readonly cmd: 'connack' }): void {
    const code = answer.returnCode ?? answer.reasonCode ?? 0
    if (code !== 0) {
      this.#refusals += 1
      return
    }
    this.#refusals = 0
    const subscriptions = SUBSCRIPTIONS.map((topic) => ({ topic, qos: 1 as const }))
    this.#isKept &&= answer.sessionPresent
    if (this.#isKept) this.#isSubscribed = true
    else connection.say({ cmd: 'subscribe', messageId: 1_000, subscriptions })
    for (const [messageId, { packet, isReleased }] of this.#open) {
      connection.say(isReleased ? { cmd: 'pubrel', messageId } : { ...packet, dup: true })
    }
  }

  #sendOn(): void {
    while (this.#isSubscribed && this.#open.size < IN_FLIGHT_MAX) {
      const sent = this.#waiting.shift()
      if (sent === undefined) return
      do this.#packetId = (this.#packetId % 100) + 1
      while (this.#open.has(this.#packetId))
      const packet = this.#packetOf(sent, this.#packetId)
      this.#open.set(this.#packetId, { packet, sent, isReleased: false })
      this.#connection?.say(packet)
    }
  }

  #packetOf({ token, opId }: Sent, messageId: number): IPublishPacket {
    const qos = token % 2 === 0 ? 1 : 2
    const payload = Buffer.from(JSON.stringify({ title: `token ${token}` }))
    const topic = 'messages'
    const packet = { cmd: 'publish', topic, payload, qos, messageId, dup: false, retain: false }
    const named = opId !== undefined && { properties: { userProperties: { op_id: opId } } }
    return { ...packet, ...named } as IPublishPacket
  }

  #acknowledged(
    connection: MqttConnection,
    { cmd, messageId = 0, ...answer }: Packet & { readonly cmd: 'puback' | 'pubrec' },
  ): void {
    const open = this.#open.get(messageId)
    if (open === undefined || open.isReleased) return
    const isRefused = (answer.reasonCode ?? 0) >= 0x80
    const { sent } = open
    if (!isRefused) sent.outcome = 'accepted'
    else if (sent.outcome === 'open') sent.outcome = 'unknown'
    if (cmd === 'puback' || isRefused) this.#open.delete(messageId)
    else {
      open.isReleased = true
      connection.say({ cmd: 'pubrel', messageId })
    }
  }

  #take(connection: MqttConnection, { payload, qos, messageId = 0, retain }: IPublishPacket): void {
    if (retain) return
    const { seq, op_id: opId } = JSON.parse(payload.toString()) as News
    if (seq <= this.#seen) {
      const detail = `${this.name} got ${seq} behind ${this.#seen}`
      this.#parts.observations.break('a device never goes backward within a session', detail)
    }
    this.#seen = seq
    this.got.add(opId)
    if (qos === 0) return
    const { time, chance } = this.#parts
    time.after(between(chance, 0, 50), () => connection.say({ cmd: 'puback', messageId }))
  }
}

interface News {
  readonly seq: number
  readonly op_id: string
}
