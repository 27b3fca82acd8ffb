// POST /device/register. (decisions.md 7)

import { isFault } from '#domain/fault'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceId } from '#domain/identity'
import type { Device, Platform } from '#domain/device'
import type { Bus } from '#domain/ports'
import type { DeviceStore, SubscriptionStore } from '#domain/store-ports'
import { readRegister } from '#src/schemas/device-requests'
import { deviceIdOf } from './device-identity.ts'
import type { Handler } from './request.ts'

export interface RegisterPorts {
  readonly devices: Pick<DeviceStore, 'find' | 'create' | 'remove'>
  readonly subscriptions: Pick<SubscriptionStore, 'positions'>
  readonly bus: Pick<Bus, 'notify'>
  readonly newHex32: () => string
}

/**
 * Confirms a known key; otherwise issues a new one and says why. A caller's own key is never
 * adopted.
 */
export function registerDevice(ports: RegisterPorts): Handler {
  return async ({ body, receivedAtMs }) => {
    const read = readRegister(body)
    if (isFault(read)) return read
    const { deviceKey, platform } = read
    if (deviceKey === undefined)
      return issueKey(ports, platform, receivedAtMs, 'device_key_missing')
    const known = await findByText(ports, deviceKey)
    if (known === undefined) return issueKey(ports, platform, receivedAtMs, 'device_key_not_found')
    if (known.platform === platform) return { device_key: deviceKey, issued_new_key: false }
    const issued = await issueKey(ports, platform, receivedAtMs, 'platform_mismatch')
    await removeIdentity(ports, known.deviceId)
    return issued
  }
}

async function findByText({ devices }: RegisterPorts, text: string): Promise<Device | undefined> {
  const deviceKey = parseDeviceKey(text)
  return deviceKey === undefined ? undefined : devices.find(deviceIdOf(deviceKey))
}

async function issueKey(
  { devices, newHex32 }: RegisterPorts,
  platform: Platform,
  nowMs: number,
  reason: 'device_key_missing' | 'device_key_not_found' | 'platform_mismatch',
): Promise<object> {
  const deviceKey = parseDeviceKey(newHex32())
  if (deviceKey === undefined) throw new Error('a new device key has 32 hex characters')
  await devices.create(deviceIdOf(deviceKey), platform, nowMs)
  return { device_key: deviceKey, issued_new_key: true, issue_reason: reason }
}

/** The old device goes with its subscriptions; its live session is told to stop each of them. */
async function removeIdentity(ports: RegisterPorts, deviceId: DeviceId): Promise<void> {
  const positions = await ports.subscriptions.positions(deviceId)
  await ports.devices.remove(deviceId)
  for (const { channelId } of positions) {
    ports.bus.notify({ kind: 'unsubscribed', channelId, deviceId })
  }
}
