// Writes the answers of administration (channels, devices, subscriptions) in the names of the wire.

import type {
  Acknowledged,
  DeviceRoute,
  Existence,
  Joined,
  Left,
  NamedChannel,
  Registered,
  Synchronised,
  SynchronisedItem,
} from '#domain/administration'
import { FAULTS, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'

import type { Wire } from './answers.ts'

export const channelIdToWire = (channelId: ChannelId): Wire => ({ channel_id: channelId })

export const channelToWire = ({ channelId, channelName }: NamedChannel): Wire => ({
  channel_id: channelId,
  channel_name: channelName,
})

export const existenceToWire = ({ channelId, exists }: Existence): Wire => ({
  channel_id: channelId,
  exists,
})

export const joinedToWire = (joined: Joined): Wire => ({
  ...channelToWire(joined),
  created: joined.isCreated,
  subscribed: true,
})

export const leftToWire = ({ channelId, isRemoved }: Left): Wire => ({
  channel_id: channelId,
  removed: isRemoved,
})

export function synchronisedToWire({ items }: Synchronised): Wire {
  const failed = items.filter(({ outcome }) => isFault(outcome)).length
  return {
    total: items.length,
    success: items.length - failed,
    failed,
    channels: items.map(synchronisedItemToWire),
  }
}

function synchronisedItemToWire({ channelIdText, outcome }: SynchronisedItem): Wire {
  if (!isFault(outcome)) return { ...channelToWire(outcome), subscribed: true }
  return {
    channel_id: channelIdText,
    subscribed: false,
    error: outcome.detail ?? FAULTS[outcome.code],
    error_code: outcome.code,
  }
}

export const registeredToWire = ({ deviceKey, issueReason }: Registered): Wire =>
  issueReason === undefined
    ? { device_key: deviceKey, issued_new_key: false }
    : { device_key: deviceKey, issued_new_key: true, issue_reason: issueReason }

export const deviceRouteToWire = (route: DeviceRoute): Wire => ({
  device_key: route.deviceKey,
  channel_type: route.channelType,
  ...(route.providerToken !== undefined && { provider_token: route.providerToken }),
})

export const acknowledgedToWire = ({ requestedCount, removedCount }: Acknowledged): Wire => ({
  requested_count: requestedCount,
  removed_count: removedCount,
})
