// Results of administering channels, devices and subscriptions. (decisions.md 7)

import type { ChannelType } from './device.ts'
import type { Fault } from './fault.ts'
import type { ChannelId, DeviceId, DeviceKey } from './identity.ts'
import type { Preferences } from '#domain/push/preferences'
import type { Platform } from '#domain/push/providers'

export interface NamedChannel {
  readonly channelId: ChannelId
  readonly channelName: string
}

/** A channel that a device has joined. */
export interface Joined extends NamedChannel {
  /** True when the subscription made the channel. */
  readonly isCreated: boolean
  /** Names the device among the subscribers of the channel; it opens nothing. */
  readonly subscriberId: string
}

/** The preferences of a subscription from now on. */
export interface Preferred {
  readonly channelId: ChannelId
  readonly notify: Preferences
}

export interface Left {
  readonly channelId: ChannelId
  /** False when the device was not subscribed. */
  readonly isRemoved: boolean
}

/** The outcome for each channel of a list, in the order of the list. */
export interface Synchronised {
  readonly items: readonly SynchronisedItem[]
}

export interface SynchronisedItem {
  /** channel_id as it was sent; empty when it was no text. */
  readonly channelIdText: string
  readonly outcome: NamedChannel | Fault
}

/** A device's key, and the reason for a new one. */
export interface Registered {
  readonly deviceKey: DeviceKey
  readonly issueReason?: 'device_key_missing' | 'device_key_not_found' | 'platform_mismatch'
}

/** The route by which the gateway reaches a device. */
export interface DeviceRoute {
  readonly deviceKey: DeviceKey
  readonly channelType: ChannelType
  readonly providerToken?: string
}

/** A device that is subscribed to a channel, without what proves to be it. */
export interface Subscriber {
  readonly deviceId: DeviceId
  /** As the device registered; absent without one. */
  readonly label?: string
  readonly platform: Platform
  readonly channelType: ChannelType
  /** Unix milliseconds. */
  readonly subscribedAt: number
  /** The time of its last session or pull, up to a day too early; Unix milliseconds. */
  readonly seenAt: number
}

export type NamedDevice = Pick<Subscriber, 'label'>

export interface ListedSubscribers {
  readonly channelId: ChannelId
  readonly subscribers: readonly (Subscriber & Pick<Joined, 'subscriberId'>)[]
}

export interface Existence {
  readonly channelId: ChannelId
  readonly exists: boolean
}

/** The number of deliveries that the caller named, and of those among them that were new. */
export interface Acknowledged {
  readonly requestedCount: number
  readonly removedCount: number
}
