// Keeps this computer's device key in a file, so that `heliograph watch` is one device over time.
//
//   <key> [platform]      the platform only where it differs from that of this computer
//
// Invariants:
//   device-key-file/1. Others can never read the file: writeDeviceKeyFile makes it with mode 0600
//     under another name and renames it. readDeviceKeyFile gives a file that others can read mode
//     0600 again.

import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

import { PLATFORMS } from '#domain/device'
import type { Platform } from '#domain/device'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Env } from '#src/config/environment'

/** The file for one gateway: no other gateway knows its device key. */
export function deviceKeyPath(env: Env, baseUrl: string): string {
  const state = env['XDG_STATE_HOME'] ?? ''
  const folder = isAbsolute(state) ? state : join(homedir(), '.local', 'state')
  const { host } = new URL(baseUrl)
  const hash = createHash('sha256').update(baseUrl).digest('hex').slice(0, 8)
  return join(folder, 'heliograph', `${host.replace(/[^A-Za-z0-9.-]/g, '_')}-${hash}.key`)
}

export interface KeptKey {
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

/** Writes a key; makes the folders that are missing. */
export function writeDeviceKeyFile(path: string, { key, platform }: KeptKey): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  const line = platform === undefined ? key : `${key} ${platform}`
  writeFileSync(draft, `${line}\n`, { mode: 0o600, flag: 'wx' }) // device-key-file/1
  renameSync(draft, path)
}
