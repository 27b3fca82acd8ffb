// This computer as a device: its key in a file, known to the gateway.

import type { Platform } from '#domain/device'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Client } from '#src/client/client'
import { deviceKeyPath, readDeviceKeyFile, writeDeviceKeyFile } from './device-key-file.ts'
import type { KeptKey } from './device-key-file.ts'
import { CommandError, UsageError } from './endings.ts'
import type { Surroundings } from './surroundings.ts'
import type { Talk } from './talk.ts'
import { given } from './talk.ts'
import { fileOption } from './command.ts'

/** The option of a command about this device. */
export const DEVICE = {
  deviceKeyFile: fileOption('file for the key of the device; name another for a second device'),
} as const

interface DeviceGiven {
  readonly deviceKeyFile: string | undefined
  /** Absent: that of this computer. */
  readonly platform?: Platform | undefined
}

export interface ThisDevice {
  /** A secret. */
  readonly deviceKey: DeviceKey
  readonly platform: Platform
  readonly isNew: boolean
}

/**
 * The key that the file has, without asking the gateway. Throws UsageError where there is none.
 */
export function knownDeviceKey(
  { access }: Pick<Talk, 'access'>,
  { deviceKeyFile }: { readonly deviceKeyFile: string | undefined },
  { env }: Pick<Surroundings, 'env'>,
): DeviceKey {
  const kept = readDeviceKeyFile(deviceKeyFile ?? deviceKeyPath(env, access.baseUrl))
  if (kept !== undefined) return kept.key
  throw new UsageError(
    'there is no device key yet: `heliograph channel subscribe` or `heliograph device register` ' +
      'makes one',
  )
}

/** The device that the file names; it is registered, and the file made, where it is missing. */
export async function thisDevice(
  { client, access }: Pick<Talk, 'client' | 'access'>,
  { deviceKeyFile, platform }: DeviceGiven,
  { env }: Pick<Surroundings, 'env'>,
): Promise<ThisDevice> {
  const path = deviceKeyFile ?? deviceKeyPath(env, access.baseUrl)
  const kept = readDeviceKeyFile(path)
  const isOf = kept && (kept.platform ?? thisPlatform())
  // Asked for another platform, the gateway would take the device away and make a new one.
  if (isOf !== undefined && platform !== undefined && platform !== isOf) {
    throw new UsageError(`the key in the file is that of a device of the platform ${isOf}`)
  }
  return await registered(client, path, { kept, platform: platform ?? isOf ?? thisPlatform() })
}

interface Wanted {
  readonly kept: KeptKey | undefined
  readonly platform: Platform
}

async function registered(
  client: Client,
  path: string,
  { kept, platform }: Wanted,
): Promise<ThisDevice> {
  const answer = await client.device.register({ platform, ...given({ device_key: kept?.key }) })
  const key = parseDeviceKey(answer.device_key)
  if (key === undefined) throw new CommandError('the gateway gave no usable device key')
  if (key !== kept?.key) {
    writeDeviceKeyFile(path, { key, ...(platform !== thisPlatform() && { platform }) })
  }
  return { deviceKey: key, platform, isNew: key !== kept?.key }
}

const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, Platform>>> = {
  darwin: 'macos',
  linux: 'linux',
  win32: 'windows',
  android: 'android',
}

export const thisPlatform = (): Platform => PLATFORMS[process.platform] ?? 'other'
