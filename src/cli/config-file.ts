// The config file: profiles of settings for the command line. (docs/cli.md)
//
//   { "profiles": { "default": { "url": "https://push.example", "token_file": "/…" } } }
//
// Invariants:
//   config-file/1. A file may hold secrets, so others can never read it: replaceFile makes it with
//     mode 0600 under another name and renames it.
//   config-file/2. No error repeats content of the file.

import { dirname, isAbsolute, join } from 'node:path'

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { isRecord, jsonOf, recordOf } from '#domain/record'
import { fileText } from '#src/config/environment'
import type { Env } from '#src/config/environment'
import { CommandError, UsageError } from './endings.ts'

/** The keys of a profile, in the order of `config list`. */
export const CONFIG_KEYS = [
  'url',
  'token',
  'token_file',
  'channel',
  'password',
  'password_file',
  'passphrase',
  'passphrase_file',
] as const

export type ConfigKey = (typeof CONFIG_KEYS)[number]
export type Profile = { readonly [Key in ConfigKey]?: string }
export type Profiles = Readonly<Record<string, Profile>>

export const SECRET_KEYS: ReadonlySet<ConfigKey> = new Set(['token', 'password', 'passphrase'])

export const DEFAULT_PROFILE = 'default'

/** Readers of settings with a form. Each throws UsageError, which names where the text stands. */
export const READERS = { url: readBaseUrl, channel: readChannel, token: readToken } as const

function readBaseUrl(given: string, where: string): string {
  const url = URL.parse(given)
  // access/1: the text may hold a password
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${where}: the gateway must be an address like https://push.example`)
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(
      `${where}: the address of the gateway must not hold a user, password, ? or #`,
    )
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

function readChannel(given: string, where: string): ChannelId {
  const channelId = parseChannelId(given)
  if (channelId !== undefined) return channelId
  throw new UsageError(`${where}: the id of a channel has 26 letters and digits`)
}

function readToken(given: string, where: string): string {
  if (!/[^\x21-\x7e]/.test(given)) return given
  throw new UsageError(`${where}: a gateway token is visible ASCII characters without spaces`)
}

/** The config file; undefined where the environment names no home. */
export function configPath(env: Env): string | undefined {
  const named = env['HELIOGRAPH_CONFIG'] ?? ''
  if (named !== '') return named
  const base = env['XDG_CONFIG_HOME'] ?? ''
  const home = env['HOME'] ?? env['USERPROFILE'] ?? ''
  if (isAbsolute(base)) return join(base, 'heliograph', 'config.json')
  return home === '' ? undefined : join(home, '.config', 'heliograph', 'config.json')
}

/** The profiles of the file; none where there is no file. Throws CommandError for a broken file. */
export function readProfiles(env: Env): Profiles {
  const path = configPath(env)
  const text = path === undefined ? undefined : fileText(path)
  if (path === undefined || text === undefined) return {}
  const profiles = profilesIn(text)
  if (profiles !== undefined) return profiles
  throw new CommandError(
    `${path} is not {"profiles": {"<name>": {"<key>": "<text>"}}} with the keys ` +
      `${CONFIG_KEYS.join(', ')}: repair or remove it`,
  )
}

/** Undefined when the text does not have the form. (config-file/2) */
function profilesIn(text: string): Profiles | undefined {
  const parsed = recordOf(jsonOf(text))
  const profiles = parsed && (parsed['profiles'] ?? {})
  return isRecord(profiles) && Object.values(profiles).every(isProfile)
    ? (profiles as Profiles) // every member was just checked
    : undefined
}

const isProfile = (value: unknown): boolean =>
  isRecord(value) &&
  Object.entries(value).every(([key, one]) => isConfigKey(key) && typeof one === 'string')

export const isConfigKey = (key: string): key is ConfigKey =>
  CONFIG_KEYS.some((known) => known === key)

/** One profile. Throws UsageError for a given name without a profile. */
export function profileOf(profiles: Profiles, name: string | undefined): Profile {
  const profile = Object.hasOwn(profiles, name ?? DEFAULT_PROFILE)
    ? profiles[name ?? DEFAULT_PROFILE]
    : undefined
  if (profile !== undefined) return profile
  if (name === undefined || name === DEFAULT_PROFILE) return {}
  throw new UsageError('--profile: there is no such profile; `heliograph config list` shows them')
}

/** Changes the profile of this name, by default the one that is named `default`. */
export function changeProfile(
  env: Env,
  name: string | undefined,
  changed: (before: Profile) => Profile,
): void {
  const profiles = new Map(Object.entries(readProfiles(env)))
  const after = changed(profiles.get(name ?? DEFAULT_PROFILE) ?? {})
  if (Object.keys(after).length === 0) profiles.delete(name ?? DEFAULT_PROFILE)
  else profiles.set(name ?? DEFAULT_PROFILE, after)
  writeProfiles(env, Object.fromEntries(profiles))
}

/** Writes all profiles. (config-file/1) */
export function writeProfiles(env: Env, profiles: Profiles): void {
  const path = configPath(env)
  if (path === undefined) throw new UsageError('there is no home folder: set HELIOGRAPH_CONFIG')
  replaceFile(path, `${JSON.stringify({ profiles }, undefined, 2)}\n`)
}

/** Writes a whole file; makes the folders that are missing. On a full disk the old one stays. */
export function replaceFile(path: string, text: string): void {
  const { mkdirSync, renameSync, rmSync, writeFileSync } = process.getBuiltinModule('node:fs')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' }) // config-file/1
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
