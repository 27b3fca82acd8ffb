// Devices, and the route by which the gateway reaches each. (decisions.md 7)

import type { DeviceId } from './identity.ts'

export const PLATFORMS = [
  'ios',
  'ipados',
  'macos',
  'watchos',
  'android',
  'windows',
  'web',
  'linux',
  'other',
] as const
export type Platform = (typeof PLATFORMS)[number]

export const CHANNEL_TYPES = ['private', 'apns', 'fcm'] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]

export const APPLE_PLATFORMS: readonly Platform[] = ['ios', 'ipados', 'macos', 'watchos']

export interface Device {
  readonly deviceId: DeviceId
  readonly platform: Platform
  readonly channelType: ChannelType
  /** A secret: never logged. */
  readonly providerToken?: string
}
