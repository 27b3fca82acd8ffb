// This computer as a device that the gateway knows; a file keeps its key.

import type { Platform } from '#domain/device'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Client } from '#src/client/client'
import type { Access } from './access.ts'
import { given } from './command-client.ts'
import type { CommandClient } from './command-client.ts'
import { deviceKeyPath, readDeviceKeyFile, writeDeviceKeyFile } from './device-key-file.ts'
import type { KeptKey } from './device-key-file.ts'
import { CommandError, UsageError } from './endings.ts'
import type { ProcessContext } from './process-context.ts'
import { fileOption } from './command.ts'

/** The option of a command about this device. */
export const DEVICE = {
  deviceKeyFile: fileOption('file for the key of the device; name another for a second device'),
} as const

interface DeviceGiven {
  readonly deviceKeyFile: string | undefined
  /** Absent: the platform of this computer. */
  readonly platform?: Platform | undefined
}

export interface ThisDevice {
  /** A secret. */
  readonly deviceKey: DeviceKey
  readonly platform: Platform
  readonly isNew: boolean
}

/** Reads the key from the file, without a request. Throws UsageError where the file has none. */
export function knownDeviceKey(
  { baseUrl }: Pick<Access, 'baseUrl'>,
  { deviceKeyFile }: { readonly deviceKeyFile: string | undefined },
  { env }: Pick<ProcessContext, 'env'>,
): DeviceKey {
  const kept = readDeviceKeyFile(deviceKeyFile ?? deviceKeyPath(env, baseUrl))
  if (kept !== undefined) return kept.key
  throw new UsageError(
    'there is no device key yet: `heliograph channel subscribe` or `heliograph device register` ' +
      'makes one',
  )
}

/** The device whose key is in the file. Registers one and makes the file where it is missing. */
export async function thisDevice(
  { client, access }: Pick<CommandClient, 'client' | 'access'>,
  { deviceKeyFile, platform }: DeviceGiven,
  { env }: Pick<ProcessContext, 'env'>,
): Promise<ThisDevice> {
  const path = deviceKeyFile ?? deviceKeyPath(env, access.baseUrl)
  const kept = readDeviceKeyFile(path)
  const keptPlatform = kept && (kept.platform ?? thisPlatform())
  // For another platform the gateway would remove the device and make a new one.
  if (keptPlatform !== undefined && platform !== undefined && platform !== keptPlatform) {
    throw new UsageError(`the key in the file belongs to a device of the platform ${keptPlatform}`)
  }
  return await registered(client, path, {
    kept,
    platform: platform ?? keptPlatform ?? thisPlatform(),
  })
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
