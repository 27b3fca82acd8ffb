// POST /channel/device, /channel/device/delete, /channel/device/provider-token/retire: how a device
// is reached. (decisions.md 7)

import { fault, isFault } from '#domain/fault'
import type { DeviceStore } from '#domain/store-ports'
import {
  checkProviderToken,
  readDeleteRoute,
  readRetireToken,
  readSetRoute,
} from '#src/schemas/device-requests'
import { findDevice } from './device-identity.ts'
import type { Handler } from './request.ts'

export interface DeviceRoutePorts {
  readonly devices: Pick<DeviceStore, 'find' | 'setRoute' | 'retireToken'>
}

const KEY_UNKNOWN = fault('device_key_not_found', { field: 'device_key' })

export function setDeviceRoute({ devices }: DeviceRoutePorts): Handler {
  return async ({ body }) => {
    const read = readSetRoute(body)
    if (isFault(read)) return read
    const { deviceKey, channelType } = read
    const device = await findDevice(devices, deviceKey)
    if (isFault(device)) return device
    const token = checkProviderToken(device.platform, channelType, read.providerToken)
    if (isFault(token)) return token
    if (!(await devices.setRoute(device.deviceId, channelType, token))) return KEY_UNKNOWN
    const route = { device_key: deviceKey, channel_type: channelType }
    return token === undefined ? route : { ...route, provider_token: token }
  }
}

/** The device falls back to private. */
export function deleteDeviceRoute({ devices }: DeviceRoutePorts): Handler {
  return async ({ body }) => {
    const read = readDeleteRoute(body)
    if (isFault(read)) return read
    const device = await findDevice(devices, read.deviceKey)
    if (isFault(device)) return device
    if (device.channelType !== read.channelType) {
      return fault('channel_type_mismatch', { field: 'channel_type' })
    }
    if (!(await devices.setRoute(device.deviceId, 'private', undefined))) return KEY_UNKNOWN
    return { device_key: read.deviceKey, channel_type: 'private' }
  }
}

/** Says the same for unknown tokens: which tokens exist is not for strangers. */
export function retireProviderToken({ devices }: DeviceRoutePorts): Handler {
  return async ({ body }) => {
    const read = readRetireToken(body)
    if (isFault(read)) return read
    await devices.retireToken(read.platform, read.providerToken)
    return { retired: true }
  }
}
