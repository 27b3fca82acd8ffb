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
import type { Platform } from '#domain/push/providers'
import type { Answer } from '#domain/ports'
import { DELIVERY, DEVICE, checkProviderToken } from '#src/schemas/device-routes'
import { readersOf } from '#src/schemas/shape'
import { rateLimited } from '#src/acceptance/budget'
import type { Caller } from '#src/acceptance/caller'
import { deviceIdOf, findDevice } from './device-identity.ts'
import type { Stage } from '#src/acceptance/stage'

const READ = readersOf({ ...DEVICE, ...DELIVERY })

const FIELD = 'provider_token'
const KEY_UNKNOWN = fault('device_key_not_found', { field: 'device_key' })

export class Devices {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  /**
   * Confirms a known key; otherwise issues a new one and gives the reason. Never adopts a key that
   * a caller invented.
   */
  async register(fields: unknown, caller: Caller): Promise<Answer<Registered>> {
    const request = READ.register(fields)
    if (isFault(request)) return request
    const { deviceKey: sent, platform, label } = request
    const wish = { platform, label }
    if (sent === undefined) return this.#issue(wish, 'device_key_missing', caller)
    const deviceKey = parseDeviceKey(sent)
    if (deviceKey === undefined) return this.#issue(wish, 'device_key_not_found', caller)
    const known = await this.#ports.devices.find(deviceIdOf(deviceKey))
    if (known === undefined) return this.#issue(wish, 'device_key_not_found', caller)
    if (known.platform === platform) {
      if (caller.refusal !== undefined) return caller.refusal
      if (label !== undefined) await this.#ports.devices.setLabel(known.deviceId, label)
      return { deviceKey }
    }
    const issued = await this.#issue(wish, 'platform_mismatch', caller)
    if (!isFault(issued)) await this.#remove(known, caller)
    return issued
  }

  async #issue(
    { platform, label }: { readonly platform: Platform; readonly label: string | undefined },
    issueReason: NonNullable<Registered['issueReason']>,
    { origin, isCounted, refusal, receivedAtMs }: Caller,
  ): Promise<Answer<Registered>> {
    const { devices, newHex32, budget } = this.#ports
    const beyond = origin && isCounted === true ? budget.take(origin.address) : undefined
    if (beyond !== undefined) return rateLimited(beyond) // registration/1
    if (refusal !== undefined) return refusal
    const deviceKey = parseDeviceKey(newHex32())
    if (deviceKey === undefined) throw new Error('a new device key has 32 hex characters')
    await devices.create(deviceIdOf(deviceKey), platform, receivedAtMs, label)
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
    const found = await this.#known(READ.setRoute, fields)
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
    const found = await this.#known(READ.deleteRoute, fields)
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
    const request = READ.retireToken(fields)
    if (isFault(request)) return request
    if (refusal !== undefined) return refusal
    await this.#ports.devices.retireToken(request.platform, request.providerToken)
    return undefined
  }

  /** Reads without changing anything: unacknowledged entries come again. */
  async pull(fields: unknown, caller: Caller): Promise<Answer<Pulled>> {
    const found = await this.#known(READ.pull, fields)
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
    const found = await this.#known(READ.acknowledge, fields)
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
