// Reads and writes MQTT packets by mqtt-packet; no other file knows that library.
//
// Invariants:
//   codec/1. A packet beyond the bound is refused by its header, before its body is kept.
//   codec/2. After a broken packet a reader reads nothing more.
//   codec/3. Whatever the bytes are, the reader answers with packets or a reason, and never throws.
//   codec/4. A SUBSCRIBE and an UNSUBSCRIBE have a filter: the library does not look behind their
//     properties, and cannot write an answer to none.

import { generate, parser } from 'mqtt-packet'
import type {
  IConnackPacket,
  IConnectPacket,
  IDisconnectPacket,
  IPublishPacket,
  ISubscribePacket,
  IUnsubscribePacket,
  Packet,
  Parser,
  QoS,
} from 'mqtt-packet'

export type { Packet, QoS }
export type ConnectPacket = IConnectPacket
export type ConnackPacket = IConnackPacket
export type DisconnectPacket = IDisconnectPacket
export type PublishPacket = IPublishPacket
export type SubscribePacket = ISubscribePacket
export type UnsubscribePacket = IUnsubscribePacket

/** The protocol levels that are spoken: MQTT 3.1.1 and 5. */
export type ProtocolLevel = 4 | 5

/** The reason for which bytes are no packet that this side takes. */
export type BrokenPacket = 'malformed' | 'too-large'

/**
 * Bytes of one packet. A submission is far smaller; the rest is for devices that publish a large
 * document beside their state, which is refused by itself while they stay connected.
 */
export const PACKET_BYTES_MAX = 256 * 1_024

/** Shifts of the four bytes that a length may have. */
const LENGTH_SHIFT_MAX = 21

export class PacketReader {
  readonly #parser: Parser = parser()
  readonly #packets: Packet[] = []
  #broken: BrokenPacket | undefined
  /** Bytes that the present packet still lacks; its header counts apart. */
  #missing = 0
  #held = 0
  /** The length as read so far; undefined before the length begins. */
  #length: { value: number; shift: number } | undefined

  constructor() {
    this.#parser.on('packet', (packet) => {
      if (hasNoFilter(packet)) this.#broken ??= 'malformed' // codec/4
      if (this.#broken === undefined) this.#packets.push(packet)
    })
    this.#parser.on('error', () => (this.#broken ??= 'malformed'))
  }

  /** Bytes of the packet that has not arrived whole. */
  get heldBytes(): number {
    return this.#held
  }

  /** Returns the packets that are whole by now, and why there are no more if they are broken. */
  read(bytes: Buffer): { readonly packets: readonly Packet[]; readonly broken?: BrokenPacket } {
    if (this.#broken !== undefined) return { packets: [] } // codec/2
    const good = this.#framed(bytes)
    try {
      this.#parser.parse(good)
    } catch {
      this.#broken = 'malformed' // codec/3
    }
    const packets = this.#packets.splice(0)
    return this.#broken === undefined ? { packets } : { packets, broken: this.#broken }
  }

  /** The bytes up to a header that announces too much. (codec/1) */
  #framed(bytes: Buffer): Buffer {
    let at = 0
    while (at < bytes.length) {
      if (this.#missing > 0) {
        const step = Math.min(this.#missing, bytes.length - at)
        this.#missing -= step
        this.#held = this.#missing === 0 ? 0 : this.#held + step
        at += step
        continue
      }
      const start = at
      const byte = bytes.readUInt8(at)
      at += 1
      if (this.#length === undefined) this.#length = { value: 0, shift: 0 }
      else if (!this.#lengthByte(byte)) return bytes.subarray(0, start)
    }
    return bytes
  }

  #lengthByte(byte: number): boolean {
    const length = this.#length ?? { value: 0, shift: 0 }
    length.value += (byte & 0x7f) * 2 ** length.shift
    if ((byte & 0x80) === 0) {
      this.#length = undefined
      this.#missing = length.value
      if (length.value > PACKET_BYTES_MAX) this.#broken = 'too-large'
    } else if (length.shift === LENGTH_SHIFT_MAX) this.#broken = 'malformed'
    else length.shift += 7
    return this.#broken === undefined
  }
}

function hasNoFilter(packet: Packet): boolean {
  if (packet.cmd === 'subscribe') return packet.subscriptions.length === 0
  return packet.cmd === 'unsubscribe' && packet.unsubscriptions.length === 0
}

/** The bytes of a packet for a client of this protocol level. */
export const encode = (packet: Packet, protocolVersion: ProtocolLevel): Buffer =>
  generate(packet, { protocolVersion })

/** The bytes that a packet had on the wire. */
export function bytesOf({ length = 0 }: Packet): number {
  const ofLength = length < 128 ? 1 : length < 16_384 ? 2 : length < 2_097_152 ? 3 : 4
  return 1 + ofLength + length
}
