// Returns devices their keys. (decisions.md 7)
//
// Invariants:
//   registration/1. An address without the gateway token gets a bounded number of new devices a
//                   minute; a known device costs nothing.

import type { Registered } from '#domain/administration'
import { isFault } from '#domain/fault'
import { parseDeviceKey } from '#domain/identity'
import type { Device } from '#domain/device'
import type { Platform } from '#domain/push/providers'
import type { Answer, Bus } from '#domain/ports'
import type { DeviceStore, SubscriptionStore } from '#domain/store-ports'
import { readRegister } from '#src/schemas/device-requests'
import type { Audit } from '#src/acceptance/audit'
import { rateLimited } from '#src/acceptance/budget'
import type { Budget } from '#src/acceptance/budget'
import type { Caller } from '#src/acceptance/caller'
import { deviceIdOf } from './device-identity.ts'

export interface RegistrationPorts {
  readonly devices: Pick<DeviceStore, 'find' | 'create' | 'remove'>
  readonly subscriptions: Pick<SubscriptionStore, 'positions'>
  readonly bus: Pick<Bus, 'notify'>
  readonly newHex32: () => string
  /** Counts new devices. */
  readonly budget: Budget
  readonly audit: Audit
}

export class DeviceRegistration {
  readonly #ports: RegistrationPorts

  constructor(ports: RegistrationPorts) {
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
}
