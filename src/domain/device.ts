// Devices, and the route by which the gateway reaches each. (decisions.md 7)

import type { DeviceId } from './identity.ts'
import { PROVIDERS } from './push/providers.ts'
import type { ProviderName, Platform } from './push/providers.ts'

export type ChannelType = 'private' | ProviderName
export const CHANNEL_TYPES: readonly ChannelType[] = ['private', ...PROVIDERS]

export interface Device {
  readonly deviceId: DeviceId
  readonly platform: Platform
  readonly channelType: ChannelType
  /** A secret: never logged. */
  readonly providerToken?: string
}
