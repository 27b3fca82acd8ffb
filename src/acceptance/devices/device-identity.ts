// Devices are known by the SHA-256 of their key: a reader of the database cannot act as a device.

import { hash } from 'node:crypto'

import type { Device } from '#domain/device'
import { fault, isFault } from '#domain/fault'
import { parseDeviceId } from '#domain/identity'
import type { DeviceId, DeviceKey } from '#domain/identity'
import type { Answer, SessionAdmission } from '#domain/ports'
import type { DeviceStore } from '#domain/store-ports'
import type { CallerCheck, Guard } from '#src/acceptance/caller-check'

/** The name under which the store keeps a device. */
export function deviceIdOf(deviceKey: DeviceKey): DeviceId {
  const deviceId = parseDeviceId(hash('sha256', deviceKey))
  if (deviceId === undefined) throw new Error('SHA-256 in hex has 64 characters')
  return deviceId
}

/** The device behind a key, or device_key_not_found. */
export async function findDevice(
  devices: Pick<DeviceStore, 'find'>,
  deviceKey: DeviceKey,
): Promise<Answer<Device>> {
  const device = await devices.find(deviceIdOf(deviceKey))
  return device ?? fault('device_key_not_found', { field: 'device_key' })
}

/** Without a gateway token every caller passes: a session takes no channel password. */
const GUARD: Guard = { token: 'required', budget: 'none' }

/** Returns the device that a hello names, or the refusal of the check. */
export const sessionAdmission =
  (callerCheck: CallerCheck): SessionAdmission =>
  ({ deviceKey, gatewayToken }, peer) => {
    const admitted = callerCheck.admit(GUARD, peer, peer.authorization, gatewayToken)
    return isFault(admitted) ? admitted : deviceIdOf(deviceKey)
  }
