// Keys of a channel: random credentials that stand in the place of its password, each with rights
// of its own, and where they are kept. (Specification: Channel keys; docs/decisions.md 12)

import type { ChannelId } from './identity.ts'
import type { Page } from './store-ports.ts'

/** Keys a channel may have at once. */
export const CHANNEL_KEYS_MAX = 100_000

export const KEY_SCOPES = ['send', 'read'] as const
/** `send`: submissions. `read`: state, history and subscriptions. */
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The rights of a key. */
export interface KeyRights {
  readonly scopes: readonly KeyScope[]
  /** Limits the key to Things whose id begins with it and to their Events; empty for all. */
  readonly thingPrefix: string
  /** Unix milliseconds; 0 for a key that never expires. */
  readonly expiresAt: number
}

export interface ChannelKey extends KeyRights {
  /** The name of the key in lists and revocations; it opens nothing. */
  readonly keyId: string
  readonly label: string
  readonly createdAt: number
}

/** A key as it is stored first: it is good while the password of `passwordHash` is in force. */
export interface NewChannelKey extends ChannelKey {
  /** SHA-256 of the key, in hex: the key itself is stored nowhere. */
  readonly keyHash: string
  readonly channelId: ChannelId
  readonly passwordHash: string
}

/** A key as a node checks it. */
export interface StoredKey extends KeyRights {
  readonly keyHash: string
  readonly keyId: string
  readonly label: string
  readonly channelId: ChannelId
  /** The UTC day of its last use, in days since 1970; 0 before the first one. */
  readonly lastUsedOn: number
}

/** A key in the list of its channel. */
export type ListedKey = ChannelKey & Pick<StoredKey, 'lastUsedOn'>

/** Keys of channels; void once the channel has another password, unless its change keeps them. */
export interface ChannelKeyStore {
  /** Stores a key. The bound CHANNEL_KEYS_MAX holds under any concurrency. */
  create(key: NewChannelKey): Promise<'created' | 'full' | 'no-channel'>
  /** Those of the keys that open their channel, in any order; expired ones are among them. */
  find(keyHashes: readonly string[]): Promise<readonly StoredKey[]>
  /** Oldest first; `after` is the place that the page before named as `next`. */
  list(channelId: ChannelId, after: number, limit: number): Promise<Page<ListedKey>>
  /** False when the channel has no such key. */
  revoke(channelId: ChannelId, keyId: string): Promise<boolean>
  /** Notes the UTC day, in days since 1970, on which these keys were used; a later day stays. */
  used(keyHashes: readonly string[], day: number): Promise<void>
}
