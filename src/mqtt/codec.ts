// Reads and writes MQTT packets by mqtt-packet; no other file knows that library.
//
// Invariants:
//   codec/1. A packet beyond the bound is refused by its header, before its body is kept.
//   codec/2. After a broken packet a reader reads nothing more.
//   codec/3. Whatever the bytes are, the reader answers with packets or a reason, and never throws.
//   codec/4. A SUBSCRIBE and an UNSUBSCRIBE have a filter: the library does not look behind their
//     properties, and cannot write an answer to none.
//   codec/5. Pieces of any size cost and hold in proportion to their bytes, and empty ones nothing:
//     the library gets one whole packet in one piece.

import { generate, parser } from 'mqtt-packet'
import type {
  IConnackPacket,
  IConnectPacket,
  IDisconnectPacket,
  IPublishPacket,
  ISubackPacket,
  ISubscribePacket,
  IUnsubscribePacket,
  Packet,
  Parser,
  QoS,
} from 'mqtt-packet'

import { Gathered } from '#domain/bounds/gathered'

export type { Packet, QoS }
export type ConnectPacket = IConnectPacket
export type ConnackPacket = IConnackPacket
export type DisconnectPacket = IDisconnectPacket
export type PublishPacket = IPublishPacket
export type SubscribePacket = ISubscribePacket
export type SubackPacket = ISubackPacket
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
/**
 * Bytes of a CONNECT, which anybody may send: a will of the largest submission, and 4 KiB for
 * topic, client id, credentials and properties.
 */
export const CONNECT_BYTES_MAX = 36 * 1_024

/** Bytes of a length. */
const LENGTH_BYTES_MAX = 4
const PUBLISH_TYPE = 3

export class PacketReader {
  #parser: Parser = this.#newParser()
  readonly #arrived = new Gathered()
  /** The packet that the parser has read last, until it is handed on. */
  #parsed: Packet | undefined
  #broken: BrokenPacket | undefined
  /** Bytes of the packet that has not arrived whole, once its header has. */
  #whole: number | undefined

  /** Bytes that wait. */
  get waitingBytes(): number {
    return this.#arrived.length
  }

  /** Bytes of memory that they hold. */
  get heldBytes(): number {
    return this.#arrived.heldBytes
  }

  /** Takes bytes over; they are read packet by packet. */
  add(bytes: Buffer): void {
    if (this.#broken !== undefined || bytes.length === 0) return // codec/2, codec/5
    if (this.#arrived.length === 0) this.#arrived.adopt(bytes)
    else this.#arrived.add(bytes, this.#whole) // codec/5
  }

  /** The next packet, or why there is no further one; undefined when it is not whole yet. */
  next(bytesMax = PACKET_BYTES_MAX): Packet | BrokenPacket | undefined {
    const whole = this.#broken ?? this.#wholeBytes(bytesMax)
    if (typeof whole === 'string') return this.#end(whole)
    this.#whole = whole
    if (whole === undefined || this.#arrived.length < whole) return undefined
    this.#whole = undefined
    return this.#parse(this.#take(whole)) ?? this.#end('malformed')
  }

  clear(): void {
    this.#arrived.clear()
  }

  /** Gives back memory that is not needed, once the packets for this moment are read. */
  settle(): void {
    this.#arrived.settle()
  }

  #end(broken: BrokenPacket): BrokenPacket {
    this.#broken = broken // codec/2
    this.#arrived.clear()
    return broken
  }

  /** The bytes of the present packet; undefined before its header is whole. (codec/1) */
  #wholeBytes(bytesMax: number): number | BrokenPacket | undefined {
    const { bytes } = this.#arrived
    let length = 0
    for (let at = 1; at < bytes.length; at += 1) {
      const byte = bytes.readUInt8(at)
      length += (byte & 0x7f) * 2 ** (7 * (at - 1))
      if ((byte & 0x80) === 0) return length > bytesMax ? 'too-large' : at + 1 + length
      if (at === LENGTH_BYTES_MAX) return 'malformed'
    }
    return undefined
  }

  /**
   * One packet. A payload is a view of its packet and lives as long as its submission, so the
   * packet gets memory of its own where it would keep much more.
   */
  #take(whole: number): Buffer {
    const { heldBytes } = this.#arrived
    const packet = this.#arrived.take(whole)
    if (packet.readUInt8(0) >> 4 !== PUBLISH_TYPE || heldBytes <= 2 * whole) return packet
    const own = Buffer.allocUnsafeSlow(whole)
    packet.copy(own)
    return own
  }

  /** Hands the parser one whole packet in one piece; it walks pieces for each field. (codec/5) */
  #parse(bytes: Buffer): Packet | undefined {
    try {
      this.#parser.parse(bytes)
    } catch {
      return undefined // codec/3
    }
    const packet = this.#parsed
    this.#parsed = undefined
    if (packet === undefined || hasNoFilter(packet)) return undefined // codec/4
    // The parser would keep the whole CONNECT.
    if (packet.cmd === 'connect') this.#parser = this.#newParser(packet.protocolVersion)
    return packet
  }

  #newParser(protocolVersion: ConnectPacket['protocolVersion'] = 4): Parser {
    const made = parser({ protocolVersion })
    made.on('packet', (packet) => (this.#parsed ??= packet))
    made.on('error', () => undefined)
    return made
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
