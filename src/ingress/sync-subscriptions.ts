// POST /channel/sync: makes a device's subscriptions equal to a list. (decisions.md 7)
//
// Invariants:
//   Y1. Only when every item succeeded is the device taken out of the channels that are not listed.
//   Y2. Every wrong password counts in the password budget, so one request cannot try two thousand.

import { FAULTS, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { DeviceStore } from '#domain/store-ports'
import { readSync } from '#src/schemas/channel-requests'
import type { SyncItem } from '#src/schemas/channel-requests'
import type { Credentials } from './credentials.ts'
import { findDevice } from './device-identity.ts'
import type { Handler, Request } from './request.ts'
import { bind } from './subscribe.ts'
import type { BindPorts } from './subscribe.ts'

export interface SyncPorts extends BindPorts {
  readonly devices: Pick<DeviceStore, 'find'>
  readonly credentials: Credentials
}

const AT_ONCE_MAX = 4

interface Bound {
  readonly channelId: ChannelId
  readonly channelName: string
}

const isBound = (outcome: Answer<Bound>): outcome is Bound => !isFault(outcome)

export function syncSubscriptions(ports: SyncPorts): Handler {
  return async (request) => {
    const read = readSync(request.body)
    if (isFault(read)) return read
    const device = await findDevice(ports.devices, read.deviceKey)
    if (isFault(device)) return device
    const reconcile = new Reconciliation(ports, device.deviceId, request)
    const outcomes = await reconcile.all(read.items)
    const bound = outcomes.filter(isBound)
    const failed = outcomes.length - bound.length
    if (failed === 0) await reconcile.leaveOthers(bound) // Y1
    return {
      total: outcomes.length,
      success: bound.length,
      failed,
      channels: outcomes.map((outcome, at) => itemToWire(outcome, read.items[at])),
    }
  }
}

class Reconciliation {
  readonly #ports: SyncPorts
  readonly #deviceId: DeviceId
  readonly #request: Request
  /** Set once the password budget is used up: the rest is not tried. (Y2) */
  #stopped: Fault | undefined

  constructor(ports: SyncPorts, deviceId: DeviceId, request: Request) {
    this.#ports = ports
    this.#deviceId = deviceId
    this.#request = request
  }

  /** The outcome of each item, a few at a time. */
  async all(items: readonly SyncItem[]): Promise<readonly Answer<Bound>[]> {
    const outcomes: Answer<Bound>[] = []
    const entries = items.entries()
    const work = async (): Promise<void> => {
      for (const [at, item] of entries) outcomes[at] = await this.#one(item)
    }
    await Promise.all(Array.from({ length: AT_ONCE_MAX }, work))
    return outcomes
  }

  async #one({ credentials }: SyncItem): Promise<Answer<Bound>> {
    if (isFault(credentials)) return credentials
    if (this.#stopped !== undefined) return this.#stopped
    const { channelId, password } = credentials
    const opened = await this.#ports.credentials.check(channelId, password)
    if (isFault(opened)) {
      if (opened.code === 'channel_not_found') this.#stopped ??= this.#request.countGuess() // Y2
      return opened
    }
    const nowMs = this.#request.receivedAtMs
    const bound = await bind(this.#ports, { deviceId: this.#deviceId, channelId, nowMs })
    return isFault(bound) ? bound : { channelId, channelName: bound.channelName }
  }

  async leaveOthers(bound: readonly Bound[]): Promise<void> {
    const deviceId = this.#deviceId
    const kept = [...new Set(bound.map(({ channelId }) => channelId))]
    for (const channelId of await this.#ports.subscriptions.keepOnly(deviceId, kept)) {
      this.#ports.bus.notify({ kind: 'unsubscribed', channelId, deviceId })
    }
  }
}

function itemToWire(outcome: Answer<Bound>, item: SyncItem | undefined): object {
  if (!isFault(outcome)) {
    return {
      channel_id: outcome.channelId,
      channel_name: outcome.channelName,
      subscribed: true,
    }
  }
  return {
    channel_id: item?.channelIdText ?? '',
    subscribed: false,
    error: outcome.detail ?? FAULTS[outcome.code],
    error_code: outcome.code,
  }
}
