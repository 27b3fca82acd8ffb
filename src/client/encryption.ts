// Encrypts texts end to end: only holders of the key can read `ciphertext`; the gateway has no key.
// (docs/encryption.md)
//
//   hg1 . key id . nonce . AES-256-GCM ciphertext and tag      in base64url
//
// Invariants:
//   encryption/1. A ciphertext can be decrypted only with its key, and only for the channel and the
//     field that it was made for.
//   encryption/2. Every encryption draws a random nonce of its own.
//   encryption/3. A key from a passphrase takes at least ROUNDS_MIN rounds, and the keys of two
//     channels or two key ids differ.

import { parseChannelId } from '#domain/identity'
import { HeliographError } from './error.ts'
import type { ClientCode } from './error.ts'
import { WEB } from './runtime.ts'
import type { ClientRuntime } from './runtime.ts'

const VERSION = 'hg1'
const NONCE_BYTES = 12
const KEY_BYTES = 32
const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/
const FIELD = /^[\x21-\x7e]{1,128}$/
/** Rounds of PBKDF2-SHA-256. */
const ROUNDS_MIN = 600_000
const FIELD_DEFAULT = 'ciphertext'

type Subtle = typeof globalThis.crypto.subtle
/** `CryptoKey` of the platform. */
type PlatformKey = Awaited<ReturnType<Subtle['importKey']>>

/** A key of AES-256-GCM, which the platform does not export. */
export interface EncryptionKey {
  /** Every ciphertext names it, so that keys can change: 1 to 64 letters, digits, `_`, `-`. */
  readonly id: string
  readonly key: PlatformKey
}

/** The channel and the field that a ciphertext is bound to. (encryption/1) */
interface Binding {
  readonly channelId: string
  /** `ciphertext` unless the text is in another field, for example `attrs.position`. */
  readonly field?: string
}

export interface Plain extends Binding {
  readonly text: string
}

export interface Encrypted extends Binding {
  readonly ciphertext: string
}

export interface PassphraseOptions {
  readonly id: string
  /** A secret, which is normalised to Unicode form NFKC. */
  readonly passphrase: string
  readonly channelId: string
  /** 600,000 or more. */
  readonly rounds?: number
}

/** Makes a key of 32 random bytes. Throws TypeError for another length or a bad id. */
export async function keyFromBytes(
  id: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<EncryptionKey> {
  check(KEY_ID.test(id), 'a key id is 1 to 64 letters, digits, _ and -')
  check(bytes.byteLength === KEY_BYTES, `a key has ${KEY_BYTES} bytes`)
  const key = await subtle().importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { id, key }
}

/**
 * Makes a key of a passphrase, by PBKDF2-SHA-256. It takes some tenths of a second, on purpose:
 * keep the key. Throws TypeError for a value of the wrong form and RangeError for too few rounds.
 */
export async function keyFromPassphrase({
  id,
  passphrase,
  channelId,
  rounds = ROUNDS_MIN,
}: PassphraseOptions): Promise<EncryptionKey> {
  check(KEY_ID.test(id), 'a key id is 1 to 64 letters, digits, _ and -')
  check(passphrase !== '', 'a passphrase must not be empty')
  if (!Number.isInteger(rounds) || rounds < ROUNDS_MIN) {
    throw new RangeError(`rounds must be at least ${ROUNDS_MIN}`) // encryption/3
  }
  const secret = bytesOf(passphrase.normalize('NFKC'))
  const base = await subtle().importKey('raw', secret, 'PBKDF2', false, ['deriveKey'])
  const salt = bytesOf([VERSION, canonical(channelId), id].join('\n')) // encryption/3
  const key = await subtle().deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds },
    base,
    { name: 'AES-GCM', length: 8 * KEY_BYTES },
    false,
    ['encrypt', 'decrypt'],
  )
  return { id, key }
}

/** The ciphertext of a text, for one channel and field. */
export async function encrypt(
  { id, key }: EncryptionKey,
  { text, ...binding }: Plain,
  { entropy }: Pick<ClientRuntime, 'entropy'> = WEB,
): Promise<string> {
  const iv = entropy(NONCE_BYTES) // encryption/2
  const additionalData = additionalDataOf(id, binding)
  const parameters = { name: 'AES-GCM', iv, additionalData }
  const sealed = await subtle().encrypt(parameters, key, bytesOf(text))
  return [VERSION, id, base64UrlOf(iv), base64UrlOf(new Uint8Array(sealed))].join('.')
}

/**
 * Decrypts a ciphertext with the key that it names. Throws HeliographError: `envelope_invalid`,
 * `key_unknown`, or `decryption_failed`, which gives no reason.
 */
export async function decrypt(
  keys: readonly EncryptionKey[],
  { ciphertext, ...binding }: Encrypted,
): Promise<string> {
  const { id, iv, sealed } = partsOf(ciphertext)
  const key = keys.find((each) => each.id === id)
  if (key === undefined) throw failure('key_unknown', 'the ciphertext names another key')
  const additionalData = additionalDataOf(id, binding) // encryption/1
  try {
    const parameters = { name: 'AES-GCM', iv, additionalData }
    const text = await subtle().decrypt(parameters, key.key, sealed)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text)
  } catch {
    const reason = 'the ciphertext was not made with this key for this channel and field'
    throw failure('decryption_failed', reason)
  }
}

function partsOf(ciphertext: string) {
  const [version, id = '', nonce = '', sealed = '', ...more] = ciphertext.split('.')
  const iv = bytesFrom(nonce)
  const bytes = bytesFrom(sealed)
  const isWhole = version === VERSION && more.length === 0 && iv?.byteLength === NONCE_BYTES
  if (!isWhole || bytes === undefined || !KEY_ID.test(id)) {
    throw failure('envelope_invalid', 'the ciphertext has another form')
  }
  return { id, iv, sealed: bytes }
}

function additionalDataOf(id: string, { channelId, field = FIELD_DEFAULT }: Binding) {
  check(FIELD.test(field), 'a field is 1 to 128 characters of ASCII without spaces')
  return bytesOf([VERSION, canonical(channelId), field, id].join('\n'))
}

function canonical(channelId: string): string {
  const canonicalId = parseChannelId(channelId)
  check(canonicalId !== undefined, 'not a channel_id')
  return canonicalId ?? ''
}

function check(isSo: boolean, rule: string): void {
  if (!isSo) throw new TypeError(rule)
}

const failure = (code: ClientCode, message: string): HeliographError =>
  new HeliographError(message, { code, status: 0, retryable: false })

function subtle(): Subtle {
  // Browsers have it only on pages from https and localhost.
  const { subtle: own } = globalThis.crypto as { readonly subtle?: Subtle }
  if (own === undefined) throw new TypeError('encryption needs a page from https')
  return own
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

function base64UrlOf(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The bytes of base64url without padding; undefined for other text. */
function bytesFrom(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
