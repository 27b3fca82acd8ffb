// Channels: their credentials and names. (Specification: Channel; decisions.md 7)

import type { ChannelId } from './identity.ts'
import type { Preferences } from './push/preferences.ts'

export const SUBSCRIBERS_MAX = 32

/** The stored credentials against which acceptance checks a password. */
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

/** A new text for a channel's password. */
export interface PasswordChange {
  readonly previousHash: string
  readonly passwordHash: string
  /**
   * What outlives it beside the channel: keys, or `everything`, bindings too, when it stands for
   * the same password.
   */
  readonly kept: 'nothing' | 'keys' | 'everything'
}

/** For how long the gateway keeps what a channel holds, in milliseconds. */
export interface Retention {
  readonly messagesAndEvents: number
  readonly thingUpdates: number
  /** A channel that nobody uses. */
  readonly unused: number
}

export interface ChannelInfo {
  readonly channelId: ChannelId
  readonly channelName: string
  readonly subscribers: number
  readonly createdAt: number
  readonly headSeq: number
  /** The number of active and archived Things. */
  readonly things: number
  readonly openEvents: number
}

/** A channel with the time for which the gateway keeps it. */
export interface KeptChannel extends ChannelInfo {
  readonly retention: Retention
  /** Those of the device that asks, while it has some. */
  readonly notify?: Preferences
}
