// Channels: who may write to them and how they are named. (Specification: Channel; decisions.md 7)

import type { ChannelId } from './identity.ts'

export const SUBSCRIBERS_MAX = 32

/** What acceptance checks a password against. */
export interface ChannelCredentials {
  readonly channelId: ChannelId
  /** scrypt parameters, salt and hash as text. A secret: never logged. */
  readonly passwordHash: string
  readonly channelName: string
}

export interface NewChannel {
  readonly channelId: ChannelId
  readonly channelName: string
  readonly passwordHash: string
  readonly createdAt: number
}

export interface ChannelInfo {
  readonly channelId: ChannelId
  readonly channelName: string
  readonly subscribers: number
  readonly createdAt: number
  readonly headSeq: number
  /** Things that are active or archived. */
  readonly things: number
  readonly openEvents: number
}

/** Keys a channel may have at once. */
export const CHANNEL_KEYS_MAX = 100

/** A key that stands for a channel and its password on compatibility routes. */
export interface ChannelKey {
  /** Names the key in lists and when it is revoked; opens nothing. */
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
