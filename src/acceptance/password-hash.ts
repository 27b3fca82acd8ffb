// The text that a channel keeps in place of its password.
//
//   scrypt-hmac$N$r$p$<salt of the gateway>$<salt of the channel>$<MAC>
//
// scrypt makes a key of the password and the gateway's salt; the MAC is HMAC-SHA-256 of the
// channel's salt under that key. So one scrypt serves all channels with one password, and nobody
// sees which channels have the same one. (docs/decisions.md)

import { createHmac, timingSafeEqual } from 'node:crypto'

export interface ScryptParameters {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** The parameters and the salt with which scrypt derives a key from a password. */
export interface Derivation {
  readonly parameters: ScryptParameters
  readonly salt: Buffer
}

/** A text in its parts. */
interface PasswordHash extends Derivation {
  readonly channelSalt: Buffer
  readonly proof: Buffer
}

const HASH_TEXT =
  /^scrypt-hmac\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([\w-]{22})\$([\w-]{22})\$([\w-]{43})$/

/** The parts of a text; throws for one of an unknown form, without repeating it. */
export function parsePasswordHash(text: string): PasswordHash {
  const match = HASH_TEXT.exec(text)
  if (match === null) throw new Error('a stored password hash has an unknown form')
  const [, N, r, p, salt = '', channelSalt = '', proof = ''] = match
  return {
    parameters: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    channelSalt: Buffer.from(channelSalt, 'base64url'),
    proof: Buffer.from(proof, 'base64url'),
  }
}

/** The text for a channel whose password has this key. */
export function passwordHashOf(
  { parameters: { N, r, p }, salt }: Derivation,
  channelSalt: Buffer,
  key: Uint8Array,
): string {
  const proof = macOf(key, channelSalt)
  const parts = [salt, channelSalt, proof].map((bytes) => bytes.toString('base64url'))
  return ['scrypt-hmac', N, r, p, ...parts].join('$')
}

/** True when the key is that of the password behind the text. Takes the same time either way. */
export function isProvedBy(key: Uint8Array, { channelSalt, proof }: PasswordHash): boolean {
  return timingSafeEqual(macOf(key, channelSalt), proof)
}

const macOf = (key: Uint8Array, channelSalt: Buffer): Buffer =>
  createHmac('sha256', key).update(channelSalt).digest()
