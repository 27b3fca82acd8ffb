// Deliveries for a device without a session. (decisions.md 8)

import type { Acknowledged } from '#domain/administration'
import { isFault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import type { Answer } from '#domain/ports'
import type { DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import { readAck, readPull } from '#src/schemas/reading-requests'
import type { Caller } from './caller.ts'
import { findDevice } from './devices/device-identity.ts'

export interface DeliveryPorts {
  readonly devices: Pick<DeviceStore, 'find' | 'seen'>
  readonly read: Pick<ReadStore, 'pull'>
  readonly subscriptions: Pick<SubscriptionStore, 'acknowledgeEntries'>
}

/** Entries that a device has not acknowledged; `hasMore` when more follow. */
export interface Pulled {
  readonly items: readonly FeedEntry[]
  readonly hasMore: boolean
}

export class Deliveries {
  readonly #ports: DeliveryPorts

  constructor(ports: DeliveryPorts) {
    this.#ports = ports
  }

  /** Reads without changing anything: unacknowledged entries come again. */
  async pull(fields: unknown, caller: Caller): Promise<Answer<Pulled>> {
    const request = readPull(fields)
    if (isFault(request)) return request
    const { devices, read } = this.#ports
    const device = await findDevice(devices, request.deviceKey)
    if (isFault(device)) return device
    if (caller.refusal !== undefined) return caller.refusal
    // The answer does not wait for this: a pull matters more than the record of its day.
    devices.seen([device.deviceId], caller.receivedAtMs).catch(() => undefined)
    return read.pull(device.deviceId, request.limit)
  }

  /** Acknowledges entries, in any order and as often as wanted. */
  async acknowledge(fields: unknown, caller: Caller): Promise<Answer<Acknowledged>> {
    const request = readAck(fields)
    if (isFault(request)) return request
    const { devices, subscriptions } = this.#ports
    const device = await findDevice(devices, request.deviceKey)
    if (isFault(device)) return device
    if (caller.refusal !== undefined) return caller.refusal
    const { deliveries, requestedCount } = request
    const removedCount = await subscriptions.acknowledgeEntries(device.deviceId, deliveries)
    return { requestedCount, removedCount }
  }
}
