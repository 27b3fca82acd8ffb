// This computer as a device that the gateway knows. A file keeps its key, so that
// `heliograph watch` is one device over time:
//
//   <key> [platform]      the platform only where it differs from that of this computer
//
// Invariants:
//   device-key-file/1. Others can never read the file: writeDeviceKeyFile makes it as
//     config-file/1 says, and readDeviceKeyFile gives one that others can read mode 0600 again.

import { defined } from '#domain/record'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

import { PLATFORMS } from '#domain/push/providers'
import type { Platform } from '#domain/push/providers'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Client } from '#src/client/client'
import type { Access } from './access.ts'
import type { CommandClient } from './command-client.ts'
import { replaceFile } from './config-file.ts'
import { CommandError, UsageError } from './endings.ts'
import type { ProcessContext } from './process-context.ts'
import { fileOption } from './command.ts'
import type { Env } from '#src/config/environment'

/** The option of a command about this device. */
export const DEVICE = {
  deviceKeyFile: fileOption('file for the key of the device; name another for a second device'),
} as const

interface DeviceGiven {
  readonly deviceKeyFile: string | undefined
  /** Absent: the platform of this computer. */
  readonly platform?: Platform | undefined
  readonly label?: string | undefined
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
  { deviceKeyFile, platform, label }: DeviceGiven,
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
    label,
  })
}

interface Wanted {
  readonly kept: KeptKey | undefined
  readonly platform: Platform
  readonly label: string | undefined
}

async function registered(
  client: Client,
  path: string,
  { kept, platform, label }: Wanted,
): Promise<ThisDevice> {
  const known = defined({ device_key: kept?.key, label })
  const answer = await client.device.register({ platform, ...known })
  const key = parseDeviceKey(answer.device_key)
  if (key === undefined) throw new CommandError('the gateway gave no usable device key')
  if (key !== kept?.key) {
    writeDeviceKeyFile(path, { key, ...(platform !== thisPlatform() && { platform }) })
  }
  return { deviceKey: key, platform, isNew: key !== kept?.key }
}

const OWN_PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, Platform>>> = {
  darwin: 'macos',
  linux: 'linux',
  win32: 'windows',
  android: 'android',
}

export const thisPlatform = (): Platform => OWN_PLATFORMS[process.platform] ?? 'other'

/** The file for one gateway: no other gateway knows its device key. */
export function deviceKeyPath(env: Env, baseUrl: string): string {
  const { host } = new URL(baseUrl)
  const hash = createHash('sha256').update(baseUrl).digest('hex').slice(0, 8)
  return join(keyFolder(env), `${host.replace(/[^A-Za-z0-9.-]/g, '_')}-${hash}.key`)
}

/** The folder of the key files that no option names. */
function keyFolder(env: Env): string {
  const state = env['XDG_STATE_HOME'] ?? ''
  return join(isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'heliograph')
}

/** A device whose key is in a file of this computer. */
export interface KeptDevice {
  readonly platform: Platform
  /** Its name begins with the host of the gateway. */
  readonly device_key_file: string
}

/** The devices whose keys are in the folder of key files. */
export function keptDevices(env: Env): readonly KeptDevice[] {
  const folder = keyFolder(env)
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.endsWith('.key'))
    : []
  return names.toSorted().flatMap((name) => {
    const path = join(folder, name)
    const kept = readDeviceKeyFile(path)
    return kept ? [{ platform: kept.platform ?? thisPlatform(), device_key_file: path }] : []
  })
}

interface KeptKey {
  /** A secret. */
  readonly key: DeviceKey
  /** Absent: the platform of this computer. */
  readonly platform?: Platform
}

/** The key in the file; undefined when there is no file, or none with a key in it. */
export function readDeviceKeyFile(path: string): KeptKey | undefined {
  if (!existsSync(path)) return undefined
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600) // device-key-file/1
  const [first = '', second] = readFileSync(path, 'utf8').trim().split(/\s+/)
  const key = parseDeviceKey(first)
  const platform = PLATFORMS.find((known) => known === second)
  return key && { key, ...(platform && { platform }) }
}

/** Writes a key. (device-key-file/1) */
export const writeDeviceKeyFile = (path: string, { key, platform }: KeptKey): void =>
  replaceFile(path, `${platform === undefined ? key : `${key} ${platform}`}\n`)
