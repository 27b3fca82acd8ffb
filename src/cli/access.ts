// Reads the gateway and the channels that a command is about from options, environment and config
// file.
//
// An option wins over the environment, and the environment over the profile of the config file. A
// secret comes from an option, a file, the standard input, the environment or the profile. Whoever
// lists the processes of the computer sees options, so a secret in an option causes a warning.
//
// Invariants:
//   access/1. No error repeats a secret, nor a text that may hold one.
//   access/2. A secret goes to another computer over https, or after --insecure said otherwise.

import { isKeyForm } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { fileText } from '#src/config/environment'
import type { Env } from '#src/config/environment'
import { READERS, profileOf, readProfiles } from './config-file.ts'
import type { Profile } from './config-file.ts'
import { UsageError } from './endings.ts'
import type { ProcessContext } from './process-context.ts'
import { fileOption, flag, optionName, text, texts } from './command.ts'
import type { Given } from './command.ts'

export const DEFAULT_URL = 'http://127.0.0.1:8080'

/** Options of every command that sends requests to a gateway. */
export const ACCESS = {
  url: text('<gateway>', `the gateway; default ${DEFAULT_URL}`, { variable: 'HELIOGRAPH_URL' }),
  token: text('<token>', 'gateway token; visible in process lists, prefer --token-file', {
    variable: 'HELIOGRAPH_TOKEN',
    isSecret: true,
  }),
  tokenFile: fileOption('file with the gateway token; - reads the standard input', {
    variable: 'HELIOGRAPH_TOKEN_FILE',
  }),
  profile: text('<name>', 'profile of the config file', { variable: 'HELIOGRAPH_PROFILE' }),
  json: flag('print JSON, one value a line'),
  insecure: flag('send secrets over plain http to another computer too'),
} as const

const PASSWORD = {
  password: text('<password>', 'channel password, or a key; visible in process lists', {
    variable: 'HELIOGRAPH_PASSWORD',
    isSecret: true,
  }),
  passwordFile: fileOption('file with the channel password, or a key; - reads the standard input', {
    variable: 'HELIOGRAPH_PASSWORD_FILE',
  }),
} as const

/** Options with the passphrase of end-to-end encryption. */
export const PASSPHRASE = {
  passphrase: text('<passphrase>', 'passphrase of the encryption; visible in process lists', {
    variable: 'HELIOGRAPH_PASSPHRASE',
    isSecret: true,
  }),
  passphraseFile: fileOption('file with the passphrase; - reads the standard input', {
    variable: 'HELIOGRAPH_PASSPHRASE_FILE',
  }),
} as const

/** Options of a command about one channel. */
export const CHANNEL = {
  channel: text('<id>', 'the channel', { variable: 'HELIOGRAPH_CHANNEL' }),
  ...PASSWORD,
  ...ACCESS,
} as const

/** Options of a command that makes a channel. */
export const NEW_CHANNEL = { ...PASSWORD, ...ACCESS } as const

/** Options of a command about several channels. */
export const CHANNELS = {
  channel: texts('<id>', 'a channel', { variable: 'HELIOGRAPH_CHANNEL' }),
  password: texts('<password>', 'its password, or one for all; visible in process lists', {
    variable: 'HELIOGRAPH_PASSWORD',
    isSecret: true,
  }),
  passwordFile: texts('<file>', 'file with its password, or with one for all; - reads the input', {
    variable: 'HELIOGRAPH_PASSWORD_FILE',
    completes: 'file',
  }),
  ...ACCESS,
} as const

export type AccessGiven = Given<typeof ACCESS>
export type ChannelGiven = Given<typeof CHANNEL>
export type ChannelsGiven = Given<typeof CHANNELS>

export interface Access {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly token: string | undefined
  readonly json: boolean
  /** Secrets may go over plain http to another computer. */
  readonly isInsecure: boolean
}

/** A channel and its password. */
export interface Proof {
  readonly channel_id: ChannelId
  readonly password: string
}

/** The same; without the channel when the password is a key, which names it. */
export interface Credentials {
  readonly channel_id?: ChannelId
  readonly password: string
}

/** The sources of a command's settings; the standard input serves one secret. */
export type Sources = Pick<ProcessContext, 'env' | 'readInput'>

/** The gateway and its token. Throws UsageError. */
export async function accessOf(given: AccessGiven, sources: Sources): Promise<Access> {
  const profile = profileFor(given, sources.env)
  const url = given.url ?? setting(sources.env, 'HELIOGRAPH_URL') ?? profile.url ?? DEFAULT_URL
  const token = await secretOf('token', given, sources, profile)
  if (token !== undefined) READERS.token(token, '--token')
  const { json = false, insecure: isInsecure = false } = given
  return { baseUrl: READERS.url(url, '--url'), token, json, isInsecure }
}

/**
 * Throws UsageError for a command that would send a secret over plain http to another computer;
 * after --insecure it warns. (access/2)
 */
export async function checkSecrecy(
  { baseUrl, isInsecure }: Access,
  { terminal }: Pick<ProcessContext, 'terminal'>,
): Promise<void> {
  if (baseUrl.startsWith('https:') || baseUrl === DEFAULT_URL) return
  const { isLoopback } = await import('#domain/host') // Most commands need it not.
  if (isLoopback(new URL(baseUrl).hostname)) return
  const readers = 'everybody on the way can read the token, the passwords and the device key'
  if (!isInsecure) {
    throw new UsageError(`--url: over plain http ${readers}; name an https address, or --insecure`)
  }
  terminal.printDiagnostic(`warning: --insecure: ${readers}`)
}

/** The channel and its password, under the names of the HTTP interface. Throws UsageError. */
export async function proofOf(given: ChannelGiven, sources: Sources): Promise<Proof> {
  const channelId = channelIn(given, sources)
  if (channelId === undefined) throw new UsageError(NO_CHANNEL)
  return { channel_id: channelId, password: await passwordOf(given, sources) }
}

/** The same, or a key alone in the place of both. Throws UsageError. */
export async function credentialsOf(given: ChannelGiven, sources: Sources): Promise<Credentials> {
  const channelId = channelIn(given, sources)
  const password = await passwordOf(given, sources)
  if (channelId !== undefined) return { channel_id: channelId, password }
  if (isKeyForm(password)) return { password }
  throw new UsageError(NO_CHANNEL)
}

const NO_CHANNEL = 'name the channel: --channel or HELIOGRAPH_CHANNEL'

function channelIn(given: ChannelGiven, sources: Sources): ChannelId | undefined {
  const profile = profileFor(given, sources.env)
  const channel = given.channel ?? setting(sources.env, 'HELIOGRAPH_CHANNEL') ?? profile.channel
  return channel === undefined ? undefined : READERS.channel(channel, '--channel')
}

/** The password of one channel; throws UsageError when there is none. */
export async function passwordOf(
  given: Given<typeof NEW_CHANNEL>,
  sources: Sources,
): Promise<string> {
  const password = await passwordIn(given, sources)
  if (password !== undefined) return password
  throw new UsageError(
    'give the channel password: HELIOGRAPH_PASSWORD, --password-file or the config file',
  )
}

/** The password of one channel; undefined when there is none. */
export const passwordIn = async (
  given: Given<typeof NEW_CHANNEL>,
  sources: Sources,
): Promise<string | undefined> =>
  await secretOf('password', given, sources, profileFor(given, sources.env))

/** The passphrase of end-to-end encryption; undefined when there is none. */
export const passphraseIn = async (
  given: Given<typeof PASSPHRASE> & Pick<AccessGiven, 'profile'>,
  sources: Sources,
): Promise<string | undefined> =>
  await secretOf('passphrase', given, sources, profileFor(given, sources.env))

/** The named channels, each with its password; none when no source names one. Throws UsageError. */
export async function allCredentialsOf(
  given: ChannelsGiven,
  sources: Sources,
): Promise<readonly Proof[]> {
  const profile = profileFor(given, sources.env)
  const fallback = setting(sources.env, 'HELIOGRAPH_CHANNEL') ?? profile.channel
  const channels = given.channel ?? (fallback === undefined ? [] : [fallback])
  const files = given.passwordFile ?? []
  if (given.password !== undefined && files.length > 0) throw bothGiven('password')
  const passwords =
    files.length > 0
      ? await Promise.all(
          files.map(async (path) => await secretFile('--password-file', path, sources)),
        )
      : (given.password ?? [])
  if (passwords.length > 1 && passwords.length !== channels.length) {
    throw new UsageError('give --password once for all channels, or once for each --channel')
  }
  return await Promise.all(
    channels.map(async (channel, index) => ({
      channel_id: READERS.channel(channel, '--channel'),
      password:
        passwords[index] ??
        passwords[0] ??
        (await passwordOf({ ...given, password: undefined, passwordFile: undefined }, sources)),
    })),
  )
}

/** A setting of the environment; a blank one is absent. */
export function setting(env: Env, name: string): string | undefined {
  const value = env[name]?.trim() ?? ''
  return value === '' ? undefined : value
}

/** The profile that the command line or the environment names. */
export const profileName = (
  { profile }: Pick<AccessGiven, 'profile'>,
  env: Env,
): string | undefined => profile ?? setting(env, 'HELIOGRAPH_PROFILE')

function profileFor(given: Pick<AccessGiven, 'profile'>, env: Env): Profile {
  return profileOf(readProfiles(env), profileName(given, env))
}

type Secret = 'token' | 'password' | 'passphrase'

/** A secret from the first source that gives it; undefined when none does. */
async function secretOf(
  name: Secret,
  given: { readonly [Name in Secret | `${Secret}File`]?: string | undefined },
  sources: Sources,
  profile: Profile,
): Promise<string | undefined> {
  const [option, path] = [given[name], given[`${name}File`]]
  if (option !== undefined && path !== undefined) throw bothGiven(name)
  if (option !== undefined) return option
  if (path !== undefined) return await secretFile(optionName(`${name}File`), path, sources)
  const variable = `HELIOGRAPH_${name.toUpperCase()}`
  const inEnvironment = setting(sources.env, variable)
  if (inEnvironment !== undefined) return inEnvironment
  const fileInEnvironment = setting(sources.env, `${variable}_FILE`)
  if (fileInEnvironment !== undefined) {
    return await secretFile(`${variable}_FILE`, fileInEnvironment, sources)
  }
  const inProfile = profile[name]
  if (inProfile !== undefined) return inProfile
  const fileInProfile = profile[`${name}_file`]
  return fileInProfile === undefined
    ? undefined
    : await secretFile(`${name}_file of the config file`, fileInProfile, sources)
}

const bothGiven = (name: Secret): UsageError =>
  new UsageError(`give ${optionName(name)} or ${optionName(`${name}File`)}, not both`)

/** The text of a file, or with `-` of the standard input. Throws UsageError where it is not. */
export async function textFile(
  where: string,
  path: string,
  { readInput }: Pick<ProcessContext, 'readInput'>,
): Promise<string> {
  const found = path === '-' ? await readInput() : fileText(path)
  if (found === undefined) throw new UsageError(`${where}: there is no such file`)
  return found
}

/** A secret from a file, or with `-` from the standard input, without white space around it. */
export async function secretFile(...file: Parameters<typeof textFile>): Promise<string> {
  const secret = (await textFile(...file)).trim()
  const [where] = file
  if (secret === '') throw new UsageError(`${where}: it holds nothing but white space`)
  return secret
}
