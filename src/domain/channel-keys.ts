// Keys that stand for a channel and its password, and where they are kept.

import type { ChannelId } from './identity.ts'

/** Keys a channel may have at once. */
export const CHANNEL_KEYS_MAX = 100

/** A key that stands for a channel and its password on compatibility routes. */
export interface ChannelKey {
  /** The name of the key in lists and revocations; it opens nothing. */
  readonly keyId: string
  readonly label: string
  readonly createdAt: number
}

/** A key as it is stored: it is good while the channel has the password of `passwordHash`. */
export interface NewChannelKey extends ChannelKey {
  /** SHA-256 of the key, in hex: the key itself is stored nowhere. */
  readonly keyHash: string
  readonly channelId: ChannelId
  readonly passwordHash: string
}

/** Keys that stand for a channel and its password; void once the channel has another password. */
export interface ChannelKeyStore {
  /** Stores a key. The bound CHANNEL_KEYS_MAX holds under any concurrency. */
  create(key: NewChannelKey): Promise<'created' | 'full' | 'no-channel'>
  /** The channel that a key opens now. */
  find(keyHash: string): Promise<ChannelId | undefined>
  /** Oldest first. */
  list(channelId: ChannelId): Promise<readonly ChannelKey[]>
  /** False when the channel has no such key. */
  revoke(channelId: ChannelId, keyId: string): Promise<boolean>
}
