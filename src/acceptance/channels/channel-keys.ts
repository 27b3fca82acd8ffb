// Keys that stand for a channel and its password on compatibility routes: many clients of other
// tools refuse a key with a colon, or one of more than 64 characters. (docs/decisions.md 12)
//
// Invariants:
//   channel-keys/1. A key is 256 random bits and only its hash is kept, so a look-up costs every
//                   caller the same and shows nothing of other keys.
//   channel-keys/2. The store alone decides which keys are good: from the answer on, a revoked key
//                   opens nothing on any node.
//   channel-keys/3. Only a proved password makes, lists or revokes keys: a grant is no proof.

import { hash } from 'node:crypto'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer, Bus } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { ChannelKeyStore } from '#domain/channel-keys'
import { readKeyRevocation, readKeyWish } from '#src/schemas/channel-key-requests'
import type { ListedKeys, MadeKey } from '#src/schemas/channel-key-requests'
import { readChannelCredentials } from '#src/schemas/channel-requests'
import type { Audit } from '#src/acceptance/audit'
import type { Caller } from '#src/acceptance/caller'
import { provedChannel } from './channel-proof.ts'
import type { Credentials } from '#src/acceptance/credentials'

export interface ChannelKeyPorts {
  readonly channelKeys: ChannelKeyStore
  readonly credentials: Credentials
  readonly bus: Pick<Bus, 'notify'>
  readonly audit: Audit
  readonly entropy: Runtime['entropy']
  readonly newHex32: () => string
}

const KEY_BYTES = 32
const NOT_FOUND = fault('channel_not_found')

export class ChannelKeys {
  readonly #ports: ChannelKeyPorts

  constructor(ports: ChannelKeyPorts) {
    this.#ports = ports
  }

  /** Makes a key, which is shown only once. */
  async create(fields: unknown, caller: Caller): Promise<Answer<MadeKey>> {
    const wish = readKeyWish(fields)
    if (isFault(wish)) return wish
    const proved = await provedChannel(this.#ports.credentials, wish, caller) // channel-keys/3
    if (isFault(proved)) return proved
    const { channelId, label } = wish
    const { channelKeys, credentials, entropy, newHex32, audit } = this.#ports
    const key = keyText(entropy(KEY_BYTES))
    const listed = { keyId: newHex32(), label, createdAt: caller.receivedAtMs }
    const { passwordHash } = proved
    const outcome = await channelKeys.create({
      ...listed,
      channelId,
      passwordHash,
      keyHash: hashOf(key),
    })
    if (outcome === 'created') {
      const { keyId } = listed
      audit.changed('a channel key was made', caller.origin, { channelId, keyId })
      return { ...listed, channelId, key }
    }
    if (outcome === 'full') return fault('channel_keys_limit_exceeded')
    credentials.forget(channelId) // The proved password is no longer in force.
    return NOT_FOUND
  }

  /** Lists the keys, oldest first, without the keys themselves, which the gateway does not know. */
  async list(fields: unknown, caller: Caller): Promise<Answer<ListedKeys>> {
    const request = readChannelCredentials(fields)
    if (isFault(request)) return request
    const proved = await provedChannel(this.#ports.credentials, request, caller) // channel-keys/3
    if (isFault(proved)) return proved
    const { channelId } = request
    return { channelId, keys: await this.#ports.channelKeys.list(channelId) }
  }

  /** Revokes a key; gives its channel. */
  async revoke(fields: unknown, caller: Caller): Promise<Answer<ChannelId>> {
    const request = readKeyRevocation(fields)
    if (isFault(request)) return request
    const proved = await provedChannel(this.#ports.credentials, request, caller) // channel-keys/3
    if (isFault(proved)) return proved
    const { channelId, keyId } = request
    const isRevoked = await this.#ports.channelKeys.revoke(channelId, keyId)
    if (!isRevoked) return fault('channel_key_not_found', { field: 'key_id' })
    // Followers that read the channel by this key must prove themselves anew.
    this.#ports.bus.notify({ kind: 'credentials-changed', channelId })
    this.#ports.audit.changed('a channel key was revoked', caller.origin, { channelId, keyId })
    return channelId
  }

  /** The channel that a key stands for; channel_not_found when it stands for none. */
  async channelOf(key: string): Promise<Answer<ChannelId>> {
    return (await this.#ports.channelKeys.find(hashOf(key))) ?? NOT_FOUND // channel-keys/2
  }
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_CHARACTERS = 43

/** 32 bytes as 43 letters and digits: some clients refuse any other character in a key. */
function keyText(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const base = BigInt(DIGITS.length)
  let text = ''
  while (text.length < KEY_CHARACTERS) {
    text = (DIGITS[Number(number % base)] ?? '') + text
    number /= base
  }
  return text
}

/** channel-keys/1 */
const hashOf = (key: string): string => hash('sha256', key, 'hex')
