// This computer as a device: its key in a file, known to the gateway.

import type { Platform } from '#domain/device'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Client } from '#src/client/client'
import { deviceKeyPath, readDeviceKeyFile, writeDeviceKeyFile } from './device-key-file.ts'
import { CommandError } from './endings.ts'
import type { Surroundings } from './surroundings.ts'
import type { Talk } from './talk.ts'
import { given } from './talk.ts'
import { fileOption } from './word.ts'

/** The option of a word about this device. */
export const DEVICE = {
  deviceKeyFile: fileOption('file for the key of the device; name another for a second device'),
} as const

export interface ThisDevice {
  /** A secret. */
  readonly deviceKey: DeviceKey
  readonly isNew: boolean
}

/** The device that the file names; it is registered, and the file made, where it is missing. */
export async function thisDevice(
  { client, access }: Pick<Talk, 'client' | 'access'>,
  { deviceKeyFile }: { readonly deviceKeyFile: string | undefined },
  { env }: Surroundings,
): Promise<ThisDevice> {
  return await registered(client, deviceKeyFile ?? deviceKeyPath(env, access.baseUrl))
}

async function registered(client: Client, path: string): Promise<ThisDevice> {
  const known = readDeviceKeyFile(path)
  const answer = await client.device.register({
    platform: thisPlatform(),
    ...given({ device_key: known }),
  })
  const deviceKey = parseDeviceKey(answer.device_key)
  if (deviceKey === undefined) throw new CommandError('the gateway gave no usable device key')
  if (deviceKey !== known) writeDeviceKeyFile(path, deviceKey)
  return { deviceKey, isNew: deviceKey !== known }
}

const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, Platform>>> = {
  darwin: 'macos',
  linux: 'linux',
  win32: 'windows',
  android: 'android',
}

export const thisPlatform = (): Platform => PLATFORMS[process.platform] ?? 'other'
