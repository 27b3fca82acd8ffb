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
