// Reads, opens and seals the Initial packets of QUIC version 1, whose keys follow from the
// connection ID of the client. (RFC 9000, 17.2.2; RFC 9001, 5)

import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

/** The parts of a long header that decide about a datagram. */
export interface LongHeader {
  readonly version: number
  readonly isInitial: boolean
  readonly destination: Buffer
  readonly source: Buffer
  /** Empty unless it is an Initial packet of version 1. */
  readonly token: Buffer
  /** The position of the packet number, and the bytes from there to the end of the packet. */
  readonly numberAt: number
  readonly length: number
}

export type Side = 'client' | 'server'

export const VERSION_1 = 1
/** A client's first datagram is at least as long, so no answer is longer than its cause. */
export const FIRST_DATAGRAM_BYTES_MIN = 1_200
const CONNECTION_REFUSED = 2

const LONG = 0x80
const FIXED = 0x40
const TYPE = 0x30
const TAG_BYTES = 16
const CONNECTION_CLOSE = 0x1c
/** In hex. */
const SALT = '38762cf7f55934b34d179ae6a4c80cadccbb7f0a'

export const isLong = (datagram: Buffer): boolean => ((datagram[0] ?? 0) & LONG) !== 0

/** Reads the header of the first packet; undefined when it is cut off or too long. */
export function readLongHeader(datagram: Buffer): LongHeader | undefined {
  try {
    const cursor = new Cursor(datagram)
    const first = cursor.byte()
    const version = cursor.take(4).readUInt32BE()
    const destination = cursor.take(cursor.byte())
    const source = cursor.take(cursor.byte())
    const isInitial = version === VERSION_1 && (first & FIXED) !== 0 && (first & TYPE) === 0
    const token = cursor.take(isInitial ? cursor.number() : 0)
    const length = isInitial ? cursor.number() : 0
    const numberAt = cursor.at
    cursor.take(length)
    return { version, isInitial, destination, source, token, numberAt, length }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Reads bytes one after the other; throws a RangeError beyond the end. */
class Cursor {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  byte(): number {
    return this.take(1).readUInt8()
  }

  take(count: number): Buffer {
    const end = this.at + count
    if (end > this.#bytes.length) throw new RangeError('cut off')
    const part = this.#bytes.subarray(this.at, end)
    this.at = end
    return part
  }

  /** A number of 1, 2, 4 or 8 bytes; no length in a datagram needs more than 4. (16) */
  number(): number {
    const first = this.byte()
    const more = (1 << (first >> 6)) - 1
    if (more > 3) throw new RangeError('longer than a datagram')
    return this.take(more).reduce((value, byte) => value * 256 + byte, first & 0x3f)
  }
}

/** True when the client's packet was sealed for the connection ID in its header, and is whole. */
export function isSealed(datagram: Buffer, { destination, numberAt, length }: LongHeader): boolean {
  const packet = Buffer.from(datagram.subarray(0, numberAt + length))
  if (length < 4 + TAG_BYTES) return false
  const keys = keysOf('client', destination)
  const bytes = mask(packet, numberAt, keys, (first, masked) => ((first ^ masked) & 3) + 1)
  const payloadAt = numberAt + bytes
  const nonce = nonceOf(keys, packet.subarray(numberAt, payloadAt))
  const opened = createDecipheriv('aes-128-gcm', keys.key, nonce)
  opened.setAAD(packet.subarray(0, payloadAt))
  opened.setAuthTag(packet.subarray(-TAG_BYTES))
  opened.update(packet.subarray(payloadAt, -TAG_BYTES))
  try {
    opened.final()
    return true
  } catch {
    return false
  }
}

interface Unsealed {
  readonly destination: Buffer
  readonly source: Buffer
  readonly token: Buffer
  /** The frames; at least 4 bytes. */
  readonly frames: Buffer
}

/** Returns an Initial packet with the packet number 0, under the keys of `keyId`. */
export function sealed(side: Side, keyId: Buffer, packet: Unsealed): Buffer {
  const { destination, source, token, frames } = packet
  const head = Buffer.concat([
    Buffer.from([LONG | FIXED, 0, 0, 0, VERSION_1, destination.length]),
    destination,
    Buffer.from([source.length]),
    source,
    twoBytes(token.length),
    token,
    twoBytes(1 + frames.length + TAG_BYTES),
    Buffer.alloc(1), // the packet number
  ])
  const keys = keysOf(side, keyId)
  const cipher = createCipheriv('aes-128-gcm', keys.key, nonceOf(keys, Buffer.alloc(1)))
  cipher.setAAD(head)
  const content = Buffer.concat([cipher.update(frames), cipher.final(), cipher.getAuthTag()])
  const result = Buffer.concat([head, content])
  mask(result, head.length - 1, keys, () => 1)
  return result
}

/** Returns the gateway's answer to a client's first packet that it takes no connection for. */
export function refusalOf({ destination, source }: LongHeader, reason: string): Buffer {
  const text = Buffer.from(reason)
  const close = Buffer.from([CONNECTION_CLOSE, CONNECTION_REFUSED, 0, text.length])
  const frames = Buffer.concat([close, text])
  const ids = { destination: source, source: destination }
  return sealed('server', destination, { ...ids, token: Buffer.alloc(0), frames })
}

/** A number below 16,384 in two bytes. */
function twoBytes(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(0x4000 | value)
  return bytes
}

interface Keys {
  readonly key: Buffer
  readonly iv: Buffer
  readonly hp: Buffer
}

function keysOf(side: Side, clientId: Uint8Array): Keys {
  const initial = createHmac('sha256', Buffer.from(SALT, 'hex')).update(clientId).digest()
  const secret = expanded(initial, `${side} in`, 32)
  return {
    key: expanded(secret, 'quic key', 16),
    iv: expanded(secret, 'quic iv', 12),
    hp: expanded(secret, 'quic hp', 16),
  }
}

/** HKDF-Expand-Label for at most 32 bytes. (RFC 8446, 7.1) */
function expanded(secret: Buffer, label: string, bytes: number): Buffer {
  const name = `tls13 ${label}`
  const info = Buffer.concat([Buffer.from([0, bytes, name.length]), Buffer.from(name)])
  const block = createHmac('sha256', secret)
    .update(info)
    .update(Buffer.from([0, 1]))
    .digest()
  return block.subarray(0, bytes)
}

/** Hides or shows the first byte and the packet number in place; returns the number's bytes. */
function mask(
  packet: Buffer,
  numberAt: number,
  { hp }: Keys,
  bytesOf: (first: number, masked: number) => number,
): number {
  const sample = packet.subarray(numberAt + 4, numberAt + 20)
  const masks = createCipheriv('aes-128-ecb', hp, null).update(sample)
  const first = packet.readUInt8()
  const bytes = bytesOf(first, masks.readUInt8())
  packet.writeUInt8(first ^ (masks.readUInt8() & 0x0f))
  for (let index = 0; index < bytes; index += 1) {
    packet.writeUInt8(
      packet.readUInt8(numberAt + index) ^ masks.readUInt8(1 + index),
      numberAt + index,
    )
  }
  return bytes
}

function nonceOf({ iv }: Keys, number: Buffer): Buffer {
  const nonce = Buffer.from(iv)
  const at = nonce.length - number.length
  for (const [index, byte] of number.entries()) {
    nonce.writeUInt8(nonce.readUInt8(at + index) ^ byte, at + index)
  }
  return nonce
}
