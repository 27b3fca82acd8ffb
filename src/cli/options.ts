// Options that commands share, and their values together with the environment.
//
// Options may hold secrets, but the environment is better: everybody who can list the processes of
// the computer sees options. No error repeats a secret.

import type { Command } from 'commander'

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Env } from '#src/config/config'
import { UsageError } from './endings.ts'
import { collect } from './values.ts'

const DEFAULT_URL = 'http://127.0.0.1:8080'
const URL_HELP = `the gateway (environment: HELIOGRAPH_URL; default ${DEFAULT_URL})`
const TOKEN_HELP =
  'gateway token; better in HELIOGRAPH_TOKEN, others can see options in process lists'
const PASSWORD_HELP = 'channel password; better in HELIOGRAPH_PASSWORD, for the same reason'

/** The gateway's address and the token for it. */
export interface AccessOptions {
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly json?: boolean | undefined
}

export interface ChannelOptions extends AccessOptions {
  readonly channel?: string
  readonly password?: string
}

/** Adds --token, --json and, unless the command has a --url of its own, --url. */
export function withAccess(command: Command, hasOwnUrl = false): Command {
  if (!hasOwnUrl) command.option('--url <gateway>', URL_HELP)
  return command.option('--token <token>', TOKEN_HELP).option('--json', 'print JSON for machines')
}

/** Adds the options of withAccess, --channel and --password. */
export function withChannel(command: Command, hasOwnUrl = false): Command {
  return withAccess(command, hasOwnUrl)
    .option('--channel <id>', 'the channel (environment: HELIOGRAPH_CHANNEL)')
    .option('--password <password>', PASSWORD_HELP)
}

/** The same for a command that can take several channels. */
export function withChannels(command: Command): Command {
  return withAccess(command)
    .option(
      '--channel <id>',
      'a channel; can be repeated (environment: HELIOGRAPH_CHANNEL)',
      collect,
    )
    .option('--password <password>', `${PASSWORD_HELP}; once for all, or once for each`, collect)
}

export interface Access {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly token: string | undefined
  readonly json: boolean
}

/** The options of the command, before those in front of it, before the environment. */
export function accessOf(own: AccessOptions, command: Command, env: Env): Access {
  const front = rootOf(command).opts<AccessOptions>()
  const url = own.url ?? front.url ?? setting(env, 'HELIOGRAPH_URL') ?? DEFAULT_URL
  const token = own.token ?? front.token ?? setting(env, 'HELIOGRAPH_TOKEN')
  return { baseUrl: readBaseUrl(url), token, json: own.json ?? front.json ?? false }
}

/** The gateway as the command line names it, leaving the environment aside. */
export const givenUrlOf = (own: AccessOptions, command: Command): string | undefined =>
  own.url ?? rootOf(command).opts<AccessOptions>().url

const rootOf = (command: Command): Command =>
  command.parent === null ? command : rootOf(command.parent)

/** A setting of the environment; a blank one is absent. */
export function setting(env: Env, name: string): string | undefined {
  const value = env[name]?.trim() ?? ''
  return value === '' ? undefined : value
}

function readBaseUrl(text: string): string {
  const url = URL.parse(text)
  // The text is not repeated: somebody may have put a password into it.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('the gateway must be an address like https://push.example')
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('the address of the gateway must not hold a user, password, ? or #')
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

export interface Credentials {
  readonly channel_id: ChannelId
  readonly password: string
}

/** The channel that a command is about, in the names of the wire. */
export function credentialsOf(options: ChannelOptions, env: Env): Credentials {
  const channel = options.channel ?? setting(env, 'HELIOGRAPH_CHANNEL')
  if (channel === undefined)
    throw new UsageError('name the channel: --channel or HELIOGRAPH_CHANNEL')
  return { channel_id: readChannel(channel), password: passwordOf(options.password, env) }
}

export interface ChannelsOptions extends AccessOptions {
  readonly channel?: readonly string[]
  readonly password?: readonly string[]
}

/** The channels of a command that can take several; none when none is named. */
export function allCredentialsOf(options: ChannelsOptions, env: Env): readonly Credentials[] {
  const fallback = setting(env, 'HELIOGRAPH_CHANNEL')
  const channels = options.channel ?? (fallback === undefined ? [] : [fallback])
  const passwords = options.password ?? []
  if (passwords.length > 1 && passwords.length !== channels.length) {
    throw new UsageError('give --password once for all channels, or once for each --channel')
  }
  return channels.map((channel, index) => ({
    channel_id: readChannel(channel),
    password: passwordOf(passwords[index] ?? passwords[0], env),
  }))
}

function readChannel(text: string): ChannelId {
  const channelId = parseChannelId(text)
  if (channelId === undefined) {
    throw new UsageError('a channel is named by its id: 26 letters and digits')
  }
  return channelId
}

function passwordOf(option: string | undefined, env: Env): string {
  const password = option ?? setting(env, 'HELIOGRAPH_PASSWORD')
  if (password === undefined) {
    throw new UsageError('give the channel password: HELIOGRAPH_PASSWORD or --password')
  }
  return password
}
