// The administration of a channel's keys. (docs/decisions.md 12)
//
// Invariants:
//   channel-keys/1. A key is 256 random bits and only its hash is kept: a quick hash is enough.
//   channel-keys/2. Once a revocation is answered, this process refuses the key, and a notice to
//                   every other process is on its way.
//   channel-keys/3. Only a proved password makes, lists or revokes keys: neither a key nor a grant
//                   is a proof.

import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { KEY } from '#src/schemas/key-routes'
import type { ListedKeys, MadeKey } from '#src/schemas/key-routes'
import { readersOf } from '#src/schemas/shape'
import type { Caller } from '#src/acceptance/caller'
import { keyHashOf } from '#src/acceptance/known-keys'
import type { Stage } from '#src/acceptance/stage'

const READ = readersOf(KEY)

const KEY_BYTES = 32
const NOT_FOUND = fault('channel_not_found')

export class ChannelKeys {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  /** Makes a key, which is shown only once. */
  async create(fields: unknown, caller: Caller): Promise<Answer<MadeKey>> {
    // channel-keys/3
    const wish = await this.#ports.access.prove(READ.create, fields, caller)
    if (isFault(wish)) return wish
    const { channelId, password, ...rights } = wish
    const { channelKeys, credentials, entropy, newHex32, audit } = this.#ports
    const key = keyText(entropy(KEY_BYTES))
    const made = { ...rights, keyId: newHex32(), createdAt: caller.receivedAtMs }
    // Tries twice: the known hash may be older than what another node has made anew.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const opened = await credentials.check(channelId, password)
      if (isFault(opened)) return opened
      const { passwordHash } = opened
      const stored = { ...made, channelId, passwordHash, keyHash: keyHashOf(key) }
      const outcome = await channelKeys.create(stored)
      if (outcome === 'created') {
        audit.changed('a channel key was made', caller.origin, { channelId, keyId: made.keyId })
        return { ...made, channelId, key }
      }
      if (outcome === 'full') return fault('channel_keys_limit_exceeded')
      credentials.forget(channelId)
    }
    return NOT_FOUND
  }

  /** Lists the keys, oldest first, without the keys themselves, which the gateway does not know. */
  async list(fields: unknown, caller: Caller): Promise<Answer<ListedKeys>> {
    // channel-keys/3
    const request = await this.#ports.access.prove(READ.list, fields, caller)
    if (isFault(request)) return request
    const { channelId, after, limit } = request
    return { channelId, ...(await this.#ports.channelKeys.list(channelId, after, limit)) }
  }

  /** Revokes a key; gives its channel. */
  async revoke(fields: unknown, caller: Caller): Promise<Answer<ChannelId>> {
    // channel-keys/3
    const request = await this.#ports.access.prove(READ.revoke, fields, caller)
    if (isFault(request)) return request
    const { channelId, keyId } = request
    const { channelKeys, keys, bus, audit } = this.#ports
    try {
      const isRevoked = await channelKeys.revoke(channelId, keyId)
      if (!isRevoked) return fault('channel_key_not_found', { field: 'key_id' })
      audit.changed('a channel key was revoked', caller.origin, { channelId, keyId })
      return channelId
    } finally {
      // Also without an outcome, with which it may have been made. (channel-keys/2)
      keys.forget({ channelId, keyId })
      bus.notify({ kind: 'credentials-changed', channelId, keyId })
    }
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
