// Encrypts a push for one device: one record of aes128gcm. (RFC 8188, RFC 8291)

import { createCipheriv, createECDH, createHmac } from 'node:crypto'
import type { ECDH } from 'node:crypto'

/** A push has at most 4,096 bytes; the record's header, padding delimiter and tag take the rest. */
export const CLEARTEXT_BYTES_MAX = 3_993

export const SALT_BYTES = 16
const RECORD_BYTES = 4_096
const KEY_BYTES = 16
const NONCE_BYTES = 12

const ofInfo = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1')
const KEY_INFO = ofInfo('WebPush: info')
const ONE = Buffer.of(1)
const CONTENT_KEY_INFO = Buffer.concat([ofInfo('Content-Encoding: aes128gcm'), ONE])
const NONCE_INFO = Buffer.concat([ofInfo('Content-Encoding: nonce'), ONE])
/** The padding delimiter of the last record. */
const LAST = Buffer.of(2)

/** The keys of a device, as bytes. */
interface ReceiverKeys {
  readonly point: Buffer
  readonly secret: Buffer
}

interface Chances {
  /** 16 bytes that differ for each push. */
  readonly salt: Buffer
  /** A pair of its own for each push. Only tests name one. */
  readonly sender?: Sender
}

export interface Sender {
  readonly pair: ECDH
  readonly point: Buffer
}

/** Returns the body of a push. Throws when the point is none of the curve. */
export function encrypt(
  cleartext: Buffer,
  { point, secret }: ReceiverKeys,
  { salt, sender = freshSender() }: Chances,
): Buffer {
  const own = sender.point
  const shared = sender.pair.computeSecret(point)
  const input = mac(mac(secret, shared), Buffer.concat([KEY_INFO, point, own, ONE]))
  const pseudoRandom = mac(salt, input)
  const key = mac(pseudoRandom, CONTENT_KEY_INFO).subarray(0, KEY_BYTES)
  const nonce = mac(pseudoRandom, NONCE_INFO).subarray(0, NONCE_BYTES)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const body = [cipher.update(cleartext), cipher.update(LAST), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat([headerOf(salt, own), ...body])
}

function freshSender(): Sender {
  const pair = createECDH('prime256v1')
  return { pair, point: pair.generateKeys() }
}

function headerOf(salt: Buffer, own: Buffer): Buffer {
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(RECORD_BYTES)
  sizes.writeUInt8(own.length, 4)
  return Buffer.concat([salt, sizes, own])
}

/** A step of HKDF whose output is no longer than the hash is one HMAC. (RFC 5869) */
const mac = (key: Buffer, data: Buffer): Buffer => createHmac('sha256', key).update(data).digest()
