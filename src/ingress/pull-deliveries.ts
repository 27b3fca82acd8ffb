// POST /messages/pull and /messages/ack: deliveries for a device without a session. (decisions.md
// 8)

import { isFault } from '#domain/fault'
import type { DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import { feedEntryToWire } from '#src/schemas/answers'
import { readAck, readPull } from '#src/schemas/reading-requests'
import { findDevice } from './device-identity.ts'
import type { Handler } from './request.ts'

export interface PullPorts {
  readonly devices: Pick<DeviceStore, 'find'>
  readonly read: Pick<ReadStore, 'pull'>
  readonly subscriptions: Pick<SubscriptionStore, 'acknowledgeEntries'>
}

/** Never destructive: what is not acknowledged comes again. */
export function pullDeliveries({ devices, read }: PullPorts): Handler {
  return async ({ body }) => {
    const request = readPull(body)
    if (isFault(request)) return request
    const device = await findDevice(devices, request.deviceKey)
    if (isFault(device)) return device
    const { items, hasMore } = await read.pull(device.deviceId, request.limit)
    return { items: items.map((item) => feedEntryToWire(item)), has_more: hasMore }
  }
}

/** In any order, as often as wanted. */
export function acknowledgeDeliveries({ devices, subscriptions }: PullPorts): Handler {
  return async ({ body }) => {
    const request = readAck(body)
    if (isFault(request)) return request
    const device = await findDevice(devices, request.deviceKey)
    if (isFault(device)) return device
    const { deliveries, requestedCount } = request
    const removed = await subscriptions.acknowledgeEntries(device.deviceId, deliveries)
    return { requested_count: requestedCount, removed_count: removed }
  }
}
