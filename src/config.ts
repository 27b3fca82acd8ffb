// The environment, read once, checked and frozen. The only reader of process.env. (decisions.md 1)
//
// A bad value stops the start with a sentence that names the variable, what is wrong and what is
// allowed. Importing this file reads nothing.

import { BlockList, isIP } from 'node:net'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

export type Env = Readonly<Record<string, string | undefined>>

/** A setting that cannot be used. The message is for the operator. */
export class ConfigError extends Error {}

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Tls {
  readonly certFile: string
  readonly keyFile: string
}

export type LogLevel = (typeof LOG_LEVELS)[number]
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const

export interface Config {
  readonly http: Address
  readonly tls: Tls | undefined
  /** A secret. Empty: gateway token authentication is off. */
  readonly token: string
  readonly publicBaseUrl: string | undefined
  /** CIDR blocks whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[]
  readonly databaseUrl: string
  readonly lanes: number
  readonly nodeId: string
  readonly privateTransports: { readonly wss: boolean }
  readonly statusRetentionMs: number
  readonly historyRetentionMs: { readonly messagesAndEvents: number; readonly thingUpdates: number }
  readonly logKeepMs: number
  /** Payload bytes the embedded log may hold; beyond it submissions get 503. (W4) */
  readonly logBytesMax: number
  readonly drainTimeoutMs: number
  readonly logLevel: LogLevel
  readonly passwordBudget: { readonly perAddress: number; readonly total: number }
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const YEAR_MS = 366 * DAY_MS

/** Reads the settings. A bad value throws ConfigError here, never later. */
export function configFrom(env: Env): Config {
  return Object.freeze<Config>({
    http: address(env, 'SERVICE_HTTP_ADDR', '127.0.0.1:8080'),
    tls: tls(env, 'SERVICE_HTTP_TLS_CERT', 'SERVICE_HTTP_TLS_KEY'),
    token: token(env),
    publicBaseUrl: publicBaseUrl(env),
    trustedProxies: cidrs(env, 'SERVICE_TRUSTED_PROXIES'),
    databaseUrl: databaseUrl(env),
    lanes: integer(env, 'SERVICE_LANES', { fallback: 16, min: 1, max: 1024 }),
    nodeId: nodeId(env),
    privateTransports: transports(env),
    statusRetentionMs: duration(env, 'SERVICE_STATUS_RETENTION', {
      fallback: '7d',
      min: MINUTE_MS,
      max: YEAR_MS,
    }),
    historyRetentionMs: historyRetention(env),
    logKeepMs: duration(env, 'SERVICE_LOG_KEEP', { fallback: '1h', min: 0, max: 30 * DAY_MS }),
    logBytesMax: integer(env, 'SERVICE_LOG_BYTES', {
      fallback: 2 ** 30,
      min: 2 ** 20,
      max: 2 ** 40,
    }),
    drainTimeoutMs: duration(env, 'SERVICE_DRAIN_TIMEOUT', {
      fallback: '20s',
      min: 1000,
      max: 10 * MINUTE_MS,
    }),
    logLevel: oneOf(env, 'SERVICE_LOG_LEVEL', 'info', LOG_LEVELS),
    passwordBudget: Object.freeze({
      perAddress: integer(env, 'SERVICE_PASSWORD_BUDGET_PER_ADDRESS', {
        fallback: 60,
        min: 1,
        max: 1_000_000,
      }),
      total: integer(env, 'SERVICE_PASSWORD_BUDGET_TOTAL', {
        fallback: 1200,
        min: 1,
        max: 1_000_000,
      }),
    }),
  })
}

/** The process environment over the `.env` file of the working directory, if there is one. */
export function readEnv(directory: string = process.cwd()): Env {
  const file = `${directory}/.env`
  if (!existsSync(file)) return process.env
  return { ...parseEnv(readFileSync(file, 'utf8')), ...process.env }
}

function read(env: Env, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

function refuse(name: string, problem: string, allowed: string): never {
  throw new ConfigError(`${name} ${problem}; allowed: ${allowed}`)
}

interface Range {
  readonly fallback: number
  readonly min: number
  readonly max: number
}

function integer(env: Env, name: string, { fallback, min, max }: Range): number {
  const text = read(env, name)
  if (text === undefined) return fallback
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max) {
    refuse(name, `is ${JSON.stringify(text)}`, `a whole number from ${min} to ${max}`)
  }
  return value
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

interface DurationRange {
  readonly fallback: string
  readonly min: number
  readonly max: number
}

function duration(env: Env, name: string, { fallback, min, max }: DurationRange): number {
  const text = read(env, name) ?? fallback
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text)
  const value = match === null ? Number.NaN : Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0)
  if (!(value >= min && value <= max)) {
    const range = `a duration like 90s, 20m, 12h or 7d, from ${min / 1000}s to ${max / 1000}s`
    refuse(name, `is ${JSON.stringify(text)}`, range)
  }
  return value
}

function oneOf<Name extends string>(
  env: Env,
  name: string,
  fallback: Name,
  allowed: readonly Name[],
): Name {
  const text = read(env, name) ?? fallback
  const found = allowed.find((entry) => entry === text)
  return found ?? refuse(name, `is ${JSON.stringify(text)}`, allowed.join(', '))
}

function address(env: Env, name: string, fallback: string): Address {
  const text = read(env, name) ?? fallback
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3] ?? Number.NaN)
  if (match === null || port > 65_535) {
    refuse(name, `is ${JSON.stringify(text)}`, 'host:port or [IPv6]:port, port 0 to 65535')
  }
  return Object.freeze({ host, port })
}

function tls(env: Env, certName: string, keyName: string): Tls | undefined {
  const certFile = read(env, certName)
  const keyFile = read(env, keyName)
  if (certFile === undefined && keyFile === undefined) return undefined
  for (const [name, file] of [
    [certName, certFile],
    [keyName, keyFile],
  ] as const) {
    if (file === undefined) refuse(name, 'is missing', 'a PEM file, together with the other one')
    if (!existsSync(file)) refuse(name, `names ${file}, which does not exist`, 'a PEM file')
  }
  return Object.freeze({ certFile: certFile ?? '', keyFile: keyFile ?? '' })
}

function token(env: Env): string {
  const value = read(env, 'SERVICE_TOKEN') ?? ''
  if (value.length > 4096 || /[^\x21-\x7e]/.test(value)) {
    const allowed = 'at most 4096 visible ASCII characters without spaces'
    refuse('SERVICE_TOKEN', 'cannot be sent as a Bearer token', allowed)
  }
  return value
}

function publicBaseUrl(env: Env): string | undefined {
  const text = read(env, 'SERVICE_PUBLIC_BASE_URL')
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.search !== '') {
    refuse('SERVICE_PUBLIC_BASE_URL', 'is not an https origin', 'for example https://push.example')
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

function cidrs(env: Env, name: string): readonly string[] {
  const blocks = (read(env, name) ?? '').split(',').map((block) => block.trim())
  const list = new BlockList()
  for (const block of blocks.filter((entry) => entry !== '')) {
    const [base = '', prefix] = block.split('/')
    const family = isIP(base)
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix)
    const whole = prefix === undefined || /^\d{1,3}$/.test(prefix)
    if (family === 0 || !whole || bits > (family === 6 ? 128 : 32)) {
      refuse(name, `holds ${JSON.stringify(block)}`, 'a comma list like 10.0.0.0/8,::1/128')
    }
    list.addSubnet(base, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
  return Object.freeze(blocks.filter((entry) => entry !== ''))
}

function databaseUrl(env: Env): string {
  const text = read(env, 'SERVICE_DATABASE_URL') ?? 'sqlite:data/heliograph.db'
  if (!/^sqlite:.+/.test(text)) {
    // The value may hold a password, so it is not repeated.
    refuse('SERVICE_DATABASE_URL', 'has an unknown form', 'sqlite:<path>')
  }
  return text
}

function nodeId(env: Env): string {
  const text = read(env, 'SERVICE_NODE_ID') ?? randomBytes(6).toString('hex')
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(text)) {
    refuse('SERVICE_NODE_ID', `is ${JSON.stringify(text)}`, '1 to 64 of letters, digits, _ and -')
  }
  return text
}

function transports(env: Env): Config['privateTransports'] {
  const text = read(env, 'SERVICE_PRIVATE_TRANSPORTS') ?? 'wss'
  const names = text.split(',').map((name) => name.trim())
  if (!(text === 'none' || names.every((name) => name === 'wss'))) {
    refuse('SERVICE_PRIVATE_TRANSPORTS', `is ${JSON.stringify(text)}`, 'none, wss')
  }
  return Object.freeze({ wss: text !== 'none' })
}

/** `30d,24h`: messages and events, thing updates. One duration stands for both. */
function historyRetention(env: Env): Config['historyRetentionMs'] {
  const name = 'SERVICE_HISTORY_RETENTION'
  const [first = '', second = first, ...rest] = (read(env, name) ?? '30d,24h').split(',')
  if (rest.length > 0) refuse(name, 'has more than two parts', 'one or two durations: 30d,24h')
  const part = (text: string): number =>
    duration({ [name]: text }, name, { fallback: text, min: MINUTE_MS, max: 10 * YEAR_MS })
  return Object.freeze({ messagesAndEvents: part(first), thingUpdates: part(second) })
}
