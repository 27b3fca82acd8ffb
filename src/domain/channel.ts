// Channels: their credentials and names. (Specification: Channel; decisions.md 7)

import type { ChannelId } from './identity.ts'

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
