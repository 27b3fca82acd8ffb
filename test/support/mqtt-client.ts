// A client of MQTT in memory, at the other end of a carrier of the door.

import type { MqttCarrier } from '#src/mqtt/carrier'
import { PacketReader, encode } from '#src/mqtt/codec'
import type { ConnectPacket, Packet, ProtocolLevel } from '#src/mqtt/codec'
import type { MqttDoor } from '#src/mqtt/door'
import { connect, packetsIn } from './mqtt-play.ts'
import { CHANNEL, PASSWORD } from './making.ts'
import { until } from './until.ts'

export class MqttClient implements MqttCarrier {
  readonly address: string
  readonly received: Packet[] = []
  isReading = true
  isClosed = false
  /** The gateway ended the connection, and nothing that was held is sent. */
  isCut = false
  /** Bytes that the client leaves unread. */
  unread = 0
  readonly #reader = new PacketReader()
  readonly #level: ProtocolLevel
  readonly #handle: ReturnType<MqttDoor['open']>

  constructor(door: MqttDoor, { level = 5, address = '192.0.2.1' }: MqttClientOptions = {}) {
    this.address = address
    this.#level = level
    // A reader speaks the level of the CONNECT that it has seen.
    packetsIn(this.#reader, encode(connect({ protocolVersion: level }), level))
    this.#handle = door.open(this, 0)
  }

  /** Connects with the credentials of CHANNEL, and waits for the answer. */
  static async enter(
    door: MqttDoor,
    { level = 5, ...options }: MqttClientOptions = {},
    more: Sent = {},
  ): Promise<MqttClient> {
    const client = new MqttClient(door, { level, ...options })
    const credentials = { username: CHANNEL, password: Buffer.from(PASSWORD) }
    const fields = { protocolVersion: level, ...credentials, ...more } as Partial<ConnectPacket>
    client.tell(connect(fields))
    await client.next('connack')
    return client
  }

  tell(...packets: readonly Packet[]): void {
    this.arrive(Buffer.concat(packets.map((packet) => encode(packet, this.#level))))
  }

  arrive(bytes: Buffer): void {
    this.#handle.receive(bytes)
  }

  /** Waits for the packets of a kind; returns the last of so many. */
  async next(cmd: Packet['cmd'], count = 1): Promise<Packet & Codes> {
    await until(`${count} ${cmd}`, () => this.of(cmd).length >= count)
    const packet = this.of(cmd).at(count - 1)
    if (packet === undefined) throw new Error(`no ${cmd}`)
    return packet
  }

  of(cmd: Packet['cmd']): readonly Packet[] {
    return this.received.filter((packet) => packet.cmd === cmd)
  }

  /** The client goes without a word. */
  vanish(): void {
    this.isClosed = true
    this.#handle.closed()
  }

  send(bytes: Buffer): number | 'closed' {
    if (this.isClosed) return 'closed'
    this.received.push(...packetsIn(this.#reader, bytes).packets)
    return this.unread
  }

  /** The client reads all but so many bytes. */
  read(left = 0): void {
    this.unread = left
    this.#handle.drained(left)
  }

  setReading(isOn: boolean): void {
    this.isReading = isOn
  }

  close(): void {
    this.isClosed = true
  }

  cut(): void {
    this.isClosed = true
    this.isCut = true
  }
}

/** Fields of CONNECT; `undefined` leaves one out. */
type Sent = { readonly [Name in keyof ConnectPacket]?: ConnectPacket[Name] | undefined }

interface MqttClientOptions {
  readonly level?: ProtocolLevel
  readonly address?: string
}

interface Codes {
  readonly reasonCode?: number
  readonly returnCode?: number
}
