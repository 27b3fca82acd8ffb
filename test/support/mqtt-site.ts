// A gateway with MQTT and a channel, and clients of npm that hold what they hear.

import { connect as connectSocket } from 'node:net'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'

import { connect } from 'mqtt'
import type { ExecutionContext } from 'ava'
import type { IClientOptions, IConnackPacket, IPublishPacket, MqttClient } from 'mqtt'
import { generate, parser } from 'mqtt-packet'
import type { Packet } from 'mqtt-packet'

import { freePort } from '#test/support/free-port'
import { post, startGateway } from '#test/support/gateway'
import type { Owner } from '#test/support/gateway'
import { until } from '#test/support/until'

export const PASSWORD = 'correct horse battery'

export type Level = 4 | 5

export interface MqttSite {
  readonly port: number
  readonly channelId: string
}

/** Without a gateway token the channel's password opens sessions, which has 32 kept ones. */
export async function startMqttSite(owner: Owner): Promise<MqttSite> {
  const port = await freePort(owner)
  const budget = { SERVICE_PASSWORD_BUDGET_PER_ADDRESS: '10000' }
  const env = { SERVICE_TOKEN: '', SERVICE_MQTT_ADDR: `127.0.0.1:${port}`, ...budget }
  const gateway = await startGateway(owner, { env })
  const made = await post(gateway, '/channel/create', { channel_name: 'C', password: PASSWORD })
  return { port, channelId: String(made.body.data['channel_id']) }
}

export interface Heard {
  readonly topic: string
  readonly text: string
  readonly packet: IPublishPacket
}

/** A client of one test. While it is `holding` it acknowledges nothing and reads no further. */
export class SiteClient {
  readonly heard: Heard[] = []
  holding = false
  connack: IConnackPacket | undefined
  disconnected: number | undefined
  readonly client: MqttClient

  private constructor(client: MqttClient) {
    this.client = client
    const handle = client.handleMessage.bind(client)
    client.handleMessage = (packet, done) => {
      if (!this.holding) handle(packet, done)
    }
    client.on('message', (topic, payload, packet) =>
      this.heard.push({ topic, text: payload.toString(), packet }),
    )
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'connack') this.connack = packet
      if (packet.cmd === 'disconnect') this.disconnected = packet.reasonCode
    })
    client.on('error', () => undefined)
  }

  static async enter(
    { port, channelId }: MqttSite,
    owner: Owner,
    options: IClientOptions,
  ): Promise<SiteClient> {
    const whole = {
      username: channelId,
      password: PASSWORD,
      reconnectPeriod: 0,
      manualConnect: true,
      ...options,
    }
    const client = connect(`mqtt://127.0.0.1:${port}`, whole)
    const made = new SiteClient(client)
    owner.teardown(() => client.end(true))
    const entered = Promise.withResolvers<void>()
    client.once('connect', () => entered.resolve())
    client.once('error', entered.reject)
    client.connect()
    await entered.promise
    return made
  }

  async hears(count: number): Promise<readonly string[]> {
    await until(`${count} are heard`, () => this.heard.length >= count)
    return this.heard.map(({ topic, text }) => `${topic} ${text}`)
  }

  /** Ends the connection without DISCONNECT. */
  async breakOff(): Promise<void> {
    this.client.stream.destroy()
    await until('the connection is closed', () => !this.client.connected)
  }
}

/** A client that sends what it is told and answers nothing by itself. */
export class RawClient {
  readonly received: Packet[] = []
  readonly #socket: Socket
  readonly #level: Level

  constructor(owner: Owner, { port }: MqttSite, level: Level) {
    this.#level = level
    this.#socket = connectSocket(port, '127.0.0.1')
    owner.teardown(() => this.#socket.destroy())
    const reader = parser({ protocolVersion: level })
    reader.on('packet', (packet) => this.received.push(packet))
    this.#socket.on('data', (bytes) => reader.parse(bytes))
  }

  send(packet: Packet): void {
    this.#socket.write(generate(packet, { protocolVersion: this.#level }))
  }

  /** Waits for packets of a kind; gives all of them. */
  async gets(cmd: Packet['cmd'], count: number): Promise<readonly Packet[]> {
    const got = () => this.received.filter((packet) => packet.cmd === cmd)
    await until(`${count} ${cmd} are there`, () => got().length >= count)
    return got()
  }
}

/** What comes back for bytes, up to the end of the connection. */
export async function answerTo({ port }: MqttSite, bytes: Uint8Array): Promise<Buffer> {
  const socket = connectSocket(port, '127.0.0.1')
  socket.write(bytes)
  return buffer(socket)
}

/** A row's means: `id` is a name of its own, and clients speak its level. */
export interface Means {
  readonly site: MqttSite
  readonly level: Level
  readonly id: string
  readonly enter: (options?: IClientOptions) => Promise<SiteClient>
  /** Updates the attr `n` of a Thing of the row and waits until a subscriber had it. */
  readonly update: (name: string, value: string) => Promise<void>
}

export type MqttRow = readonly [
  name: string,
  run: (t: ExecutionContext, means: Means) => Promise<void>,
]

/** The topic of the attr `n` of a Thing of a row. */
export const attr = (id: string, name: string): string => `things/${id}-${name}/attrs/n`

/** Options of a session that is kept. */
export const KEPT: IClientOptions = { clean: false, properties: { sessionExpiryInterval: 600 } }

/** The reason code of a subscription, whether the client of its level throws at one or not. */
export async function granted(
  { client }: SiteClient,
  filter: string,
  options: object = {},
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  client.on('packetreceive', (packet) => {
    if (packet.cmd === 'suback') resolve(packet.granted[0])
  })
  await client.subscribeAsync(filter, { qos: 1, ...options }).catch(() => undefined)
  return promise
}
