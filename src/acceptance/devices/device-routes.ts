// Sets the route to a device: private or by a push provider. (decisions.md 7)

import type { DeviceRoute } from '#domain/administration'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { ProviderName } from '#domain/push/providers'
import type { DeviceStore } from '#domain/store-ports'
import {
  checkProviderToken,
  readDeleteRoute,
  readRetireToken,
  readSetRoute,
} from '#src/schemas/device-requests'
import type { Caller } from '#src/acceptance/caller'
import { findDevice } from './device-identity.ts'

export interface DeviceRoutePorts {
  readonly devices: Pick<DeviceStore, 'find' | 'setRoute' | 'retireToken'>
  /** Returns why no push can reach a token, as a sentence; absent where no provider is set up. */
  readonly tokenProblem?:
    ((provider: ProviderName, token: string) => string | undefined) | undefined
}

const FIELD = 'provider_token'
const KEY_UNKNOWN = fault('device_key_not_found', { field: 'device_key' })

export class DeviceRoutes {
  readonly #devices: DeviceRoutePorts['devices']
  readonly #tokenProblem: DeviceRoutePorts['tokenProblem']

  constructor({ devices, tokenProblem }: DeviceRoutePorts) {
    this.#devices = devices
    this.#tokenProblem = tokenProblem
  }

  async set(fields: unknown, caller: Caller): Promise<Answer<DeviceRoute>> {
    const request = readSetRoute(fields)
    if (isFault(request)) return request
    const { deviceKey, channelType } = request
    const device = await findDevice(this.#devices, deviceKey)
    if (isFault(device)) return device
    const providerToken = checkProviderToken(device.platform, channelType, request.providerToken)
    if (isFault(providerToken)) return providerToken
    if (channelType !== 'private' && providerToken !== undefined) {
      const detail = this.#tokenProblem?.(channelType, providerToken)
      if (detail !== undefined) return fault('invalid_provider_token', { field: FIELD, detail })
    }
    if (caller.refusal !== undefined) return caller.refusal
    const isSet = await this.#devices.setRoute(device.deviceId, channelType, providerToken)
    if (!isSet) return KEY_UNKNOWN
    return { deviceKey, channelType, ...(providerToken !== undefined && { providerToken }) }
  }

  /** Deletes the route: the device falls back to private. */
  async delete(fields: unknown, caller: Caller): Promise<Answer<DeviceRoute>> {
    const request = readDeleteRoute(fields)
    if (isFault(request)) return request
    const { deviceKey, channelType } = request
    const device = await findDevice(this.#devices, deviceKey)
    if (isFault(device)) return device
    if (device.channelType !== channelType) {
      return fault('channel_type_mismatch', { field: 'channel_type' })
    }
    if (caller.refusal !== undefined) return caller.refusal
    const isSet = await this.#devices.setRoute(device.deviceId, 'private', undefined)
    return isSet ? { deviceKey, channelType: 'private' } : KEY_UNKNOWN
  }

  /**
   * Returns the same answer for unknown tokens, so that strangers cannot find out which tokens
   * exist.
   */
  async retireToken(fields: unknown, { refusal }: Caller): Promise<Fault | undefined> {
    const request = readRetireToken(fields)
    if (isFault(request)) return request
    if (refusal !== undefined) return refusal
    await this.#devices.retireToken(request.platform, request.providerToken)
    return undefined
  }
}
