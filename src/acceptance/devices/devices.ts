// The requests of devices: registration, their routes, and deliveries without a session.
// (decisions.md 7 and 8)
//
// Invariants:
//   registration/1. An address without the gateway token gets a bounded number of new devices a
//                   minute; a known device costs nothing.

import type { Acknowledged, DeviceRoute, Registered } from '#domain/administration'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Pulled } from '#domain/feed'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Device } from '#domain/device'
import type { Platform, ProviderName } from '#domain/push/providers'
import type { Answer, Bus } from '#domain/ports'
import type { DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import {
  checkProviderToken,
  readDeleteRoute,
  readRegister,
  readRetireToken,
  readSetRoute,
} from '#src/schemas/device-requests'
import { readAck, readPull } from '#src/schemas/reading-requests'
import type { Audit } from '#src/acceptance/audit'
import { rateLimited } from '#src/acceptance/budget'
import type { Budget } from '#src/acceptance/budget'
import type { Caller } from '#src/acceptance/caller'
import { deviceIdOf, findDevice } from './device-identity.ts'

export interface DevicePorts {
  readonly devices: Omit<DeviceStore, 'numberSession'>
  readonly subscriptions: Pick<SubscriptionStore, 'positions' | 'acknowledgeEntries'>
  readonly read: Pick<ReadStore, 'pull'>
  readonly bus: Pick<Bus, 'notify'>
  readonly newHex32: () => string
  /** Counts new devices. */
  readonly budget: Budget
  readonly audit: Audit
  /** Returns why no push can reach a token, as a sentence; absent where no provider is set up. */
  readonly tokenProblem?:
    ((provider: ProviderName, token: string) => string | undefined) | undefined
}

const FIELD = 'provider_token'
const KEY_UNKNOWN = fault('device_key_not_found', { field: 'device_key' })

export class Devices {
  readonly #ports: DevicePorts

  constructor(ports: DevicePorts) {
    this.#ports = ports
  }

  /**
   * Confirms a known key; otherwise issues a new one and gives the reason. Never adopts a key that
   * a caller invented.
   */
  async register(fields: unknown, caller: Caller): Promise<Answer<Registered>> {
    const request = readRegister(fields)
    if (isFault(request)) return request
    const { deviceKey: sent, platform } = request
    if (sent === undefined) return this.#issue(platform, 'device_key_missing', caller)
    const deviceKey = parseDeviceKey(sent)
    if (deviceKey === undefined) return this.#issue(platform, 'device_key_not_found', caller)
    const known = await this.#ports.devices.find(deviceIdOf(deviceKey))
    if (known === undefined) return this.#issue(platform, 'device_key_not_found', caller)
    if (known.platform === platform) return caller.refusal ?? { deviceKey }
    const issued = await this.#issue(platform, 'platform_mismatch', caller)
    if (!isFault(issued)) await this.#remove(known, caller)
    return issued
  }

  async #issue(
    platform: Platform,
    issueReason: NonNullable<Registered['issueReason']>,
    { origin, isCounted, refusal, receivedAtMs }: Caller,
  ): Promise<Answer<Registered>> {
    const { devices, newHex32, budget } = this.#ports
    const beyond = origin && isCounted === true ? budget.take(origin.address) : undefined
    if (beyond !== undefined) return rateLimited(beyond) // registration/1
    if (refusal !== undefined) return refusal
    const deviceKey = parseDeviceKey(newHex32())
    if (deviceKey === undefined) throw new Error('a new device key has 32 hex characters')
    await devices.create(deviceIdOf(deviceKey), platform, receivedAtMs)
    return { deviceKey, issueReason }
  }

  /** Removes the old device with its subscriptions; its live session hears of each end. */
  async #remove({ deviceId }: Pick<Device, 'deviceId'>, { origin }: Caller): Promise<void> {
    const { subscriptions, devices, bus, audit } = this.#ports
    const positions = await subscriptions.positions(deviceId)
    await devices.remove(deviceId)
    audit.changed('a device was removed', origin, { deviceId })
    for (const { channelId } of positions) bus.notify({ kind: 'unsubscribed', channelId, deviceId })
  }

  /** Sets the route to a device: private or by a push provider. */
  async setRoute(fields: unknown, caller: Caller): Promise<Answer<DeviceRoute>> {
    const found = await this.#known(readSetRoute, fields)
    if (isFault(found)) return found
    const { device, request } = found
    const { deviceKey, channelType } = request
    const providerToken = checkProviderToken(device.platform, channelType, request.providerToken)
    if (isFault(providerToken)) return providerToken
    if (channelType !== 'private' && providerToken !== undefined) {
      const detail = this.#ports.tokenProblem?.(channelType, providerToken)
      if (detail !== undefined) return fault('invalid_provider_token', { field: FIELD, detail })
    }
    if (caller.refusal !== undefined) return caller.refusal
    const { devices } = this.#ports
    const isSet = await devices.setRoute(device.deviceId, channelType, providerToken)
    if (!isSet) return KEY_UNKNOWN
    return { deviceKey, channelType, ...(providerToken !== undefined && { providerToken }) }
  }

  /** Deletes the route: the device falls back to private. */
  async deleteRoute(fields: unknown, caller: Caller): Promise<Answer<DeviceRoute>> {
    const found = await this.#known(readDeleteRoute, fields)
    if (isFault(found)) return found
    const { device, request } = found
    if (device.channelType !== request.channelType) {
      return fault('channel_type_mismatch', { field: 'channel_type' })
    }
    if (caller.refusal !== undefined) return caller.refusal
    const isSet = await this.#ports.devices.setRoute(device.deviceId, 'private', undefined)
    return isSet ? { deviceKey: request.deviceKey, channelType: 'private' } : KEY_UNKNOWN
  }

  /**
   * Returns the same answer for unknown tokens, so that strangers cannot find out which tokens
   * exist.
   */
  async retireToken(fields: unknown, { refusal }: Caller): Promise<Fault | undefined> {
    const request = readRetireToken(fields)
    if (isFault(request)) return request
    if (refusal !== undefined) return refusal
    await this.#ports.devices.retireToken(request.platform, request.providerToken)
    return undefined
  }

  /** Reads without changing anything: unacknowledged entries come again. */
  async pull(fields: unknown, caller: Caller): Promise<Answer<Pulled>> {
    const found = await this.#known(readPull, fields)
    if (isFault(found)) return found
    if (caller.refusal !== undefined) return caller.refusal
    const { device, request } = found
    const { devices, read } = this.#ports
    // The answer does not wait for this: a pull matters more than the record of its day.
    devices.seen([device.deviceId], caller.receivedAtMs).catch(() => undefined)
    return read.pull(device.deviceId, request.limit)
  }

  /** Acknowledges entries, in any order and as often as wanted. */
  async acknowledge(fields: unknown, caller: Caller): Promise<Answer<Acknowledged>> {
    const found = await this.#known(readAck, fields)
    if (isFault(found)) return found
    if (caller.refusal !== undefined) return caller.refusal
    const { device, request } = found
    const { subscriptions } = this.#ports
    const removedCount = await subscriptions.acknowledgeEntries(device.deviceId, request.deliveries)
    return { requestedCount: request.deliveries.length, removedCount }
  }

  /** Reads a request and finds its device. */
  async #known<Request extends { readonly deviceKey: DeviceKey }>(
    read: (fields: unknown) => Answer<Request>,
    fields: unknown,
  ): Promise<Answer<{ readonly request: Request; readonly device: Device }>> {
    const request = read(fields)
    if (isFault(request)) return request
    const device = await findDevice(this.#ports.devices, request.deviceKey)
    return isFault(device) ? device : { request, device }
  }
}
