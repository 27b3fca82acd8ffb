// The settings of a gateway: read once from the environment, checked and frozen. (decisions.md 1)
//
// A bad value stops the start with a sentence that names the variable, what is wrong and what is
// allowed. Importing this file reads nothing.

import { LANES_MAX } from '#domain/lane'
import type { Runtime } from '#domain/runtime'
import type { TierRetention } from '#domain/history/series'
import { tierRetention } from './tiers.ts'
import { privateTransports, tls } from './private-transports.ts'
import type { PrivateTransports, Tls } from './private-transports.ts'
import { assistants } from './assistants.ts'
import type { AssistantSettings } from './assistants.ts'
import { compatibilityRoot } from './compatibility.ts'
import type { CompatibilityRoot } from './compatibility.ts'
import { mqtt, mqttBridge } from './mqtt.ts'
import type { MqttSettings, BridgeSettings } from './mqtt.ts'
import { providers } from './providers.ts'
import type { ProviderSettings } from '#src/providers/providers'
import {
  DAY_MS,
  MINUTE_MS,
  address,
  cidrs,
  duration,
  integer,
  oneOf,
  publicBaseUrl,
  read,
  refuse,
} from './setting.ts'
import { caFile, databaseUrl, natsUrlOf, refuseIPv6 } from './server-address.ts'
import type { Address, Env } from './setting.ts'

export { ConfigError } from './setting.ts'
export type { Env } from './setting.ts'

export type LogLevel = (typeof LOG_LEVELS)[number]
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const

/** Settings that nodes share beside the database. */
export interface ClusterSettings {
  /** One or more NATS servers, separated by commas; may hold a password. */
  readonly natsUrl: string
  /** PEM certificates to trust in place of the system's; with them NATS connections use TLS. */
  readonly natsCaFile: string | undefined
  readonly streamReplicas: number
}

export interface Config {
  readonly http: Address
  readonly tls: Tls | undefined
  /** The compatibility style that stands at the root of a listener or a host name. */
  readonly compatibilityRoot: CompatibilityRoot | undefined
  /** Whether the gateway serves the console. */
  readonly console: boolean
  /** A secret. Empty when gateway token authentication is off. */
  readonly token: string
  readonly publicBaseUrl: string | undefined
  /** Undefined: AI assistants are not let in. */
  readonly assistants: AssistantSettings | undefined
  /** CIDR blocks whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[]
  /** May hold a password. */
  readonly databaseUrl: string
  /** PEM certificates to trust for MySQL, likewise. */
  readonly databaseCaFile: string | undefined
  /** Undefined when one process does everything. */
  readonly cluster: ClusterSettings | undefined
  /** The roles of this process. */
  readonly roles: Roles
  /** The push services that are set up. */
  readonly providers: ProviderSettings
  /** Milliseconds in which a device gets at most one push of updates of one Thing. */
  readonly thingPushIntervalMs: number
  readonly lanes: number
  readonly nodeId: string
  readonly privateTransports: PrivateTransports
  readonly mqtt: MqttSettings
  /** Undefined: no broker is read. */
  readonly bridge: BridgeSettings | undefined
  readonly statusRetentionMs: number
  /** Whether an update of a Thing that is sent as soon as it is applied leaves a record. */
  readonly recordsUpdates: boolean
  /** What is kept of the numbers of Things beyond their updates. */
  readonly tierRetentionMs: TierRetention
  readonly historyRetentionMs: { readonly messagesAndEvents: number; readonly thingUpdates: number }
  /** Milliseconds without use after which devices and channels are removed. */
  readonly deviceRetentionMs: number
  readonly logKeepMs: number
  /** Payload bytes the log may hold; beyond it submissions get 503. (W4) */
  readonly logBytesMax: number
  readonly drainTimeoutMs: number
  readonly logLevel: LogLevel
  readonly passwordBudget: { readonly perAddress: number; readonly total: number }
  /** New devices a minute for each address without the gateway token. */
  readonly deviceBudgetPerAddress: number
  /** Whether new channel passwords may be among the most common ones. */
  readonly commonPasswords: 'warned' | 'refused'
}

const YEAR_MS = 366 * DAY_MS
const STATUS_RETENTION = { fallback: '7d', min: MINUTE_MS, max: YEAR_MS }

/**
 * Reads the settings. A bad value throws ConfigError here, never later. A node without a name gets
 * one from `entropy`.
 */
export function configFrom(env: Env, { entropy }: Pick<Runtime, 'entropy'>): Config {
  const joined = together(env)
  const reached = {
    http: address(env, 'SERVICE_HTTP_ADDR', '127.0.0.1:8080'),
    tls: tls(env, 'SERVICE_HTTP_TLS_CERT', 'SERVICE_HTTP_TLS_KEY'),
    publicBaseUrl: publicBaseUrl(env),
  }
  return Object.freeze<Config>({
    ...reached,
    assistants: assistants(env, reached),
    compatibilityRoot: compatibilityRoot(env),
    console: oneOf(env, 'SERVICE_CONSOLE', 'on', ['on', 'off']) === 'on',
    token: token(env),
    trustedProxies: cidrs(env, 'SERVICE_TRUSTED_PROXIES'),
    ...joined,
    // Nodes share the lanes. A sole process has nobody to share with, and one lane has the largest
    // batches: 15 % less CPU a submission than 16 lanes.
    lanes: integer(env, 'SERVICE_LANES', {
      fallback: joined.cluster === undefined ? 1 : 16,
      min: 1,
      max: LANES_MAX,
    }),
    nodeId: nodeId(env, entropy),
    privateTransports: privateTransports(env),
    mqtt: mqtt(env),
    bridge: mqttBridge(env),
    providers: providers(env, joined.roles),
    thingPushIntervalMs: duration(env, 'SERVICE_THING_PUSH_INTERVAL', {
      fallback: '60s',
      min: 0,
      max: DAY_MS,
    }),
    ...statusRetention(env),
    tierRetentionMs: tierRetention(env),
    historyRetentionMs: historyRetention(env),
    deviceRetentionMs: duration(env, 'SERVICE_DEVICE_RETENTION', {
      fallback: '90d',
      min: DAY_MS,
      max: 10 * YEAR_MS,
    }),
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
    passwordBudget: passwordBudget(env),
    commonPasswords: oneOf(env, 'SERVICE_COMMON_PASSWORDS', 'warned', ['warned', 'refused']),
    deviceBudgetPerAddress: integer(env, 'SERVICE_DEVICE_BUDGET_PER_ADDRESS', {
      fallback: 60,
      min: 1,
      max: 100_000,
    }),
  })
}

function passwordBudget(env: Env): Config['passwordBudget'] {
  const bounds = { min: 1, max: 1_000_000 }
  return Object.freeze({
    perAddress: integer(env, 'SERVICE_PASSWORD_BUDGET_PER_ADDRESS', { fallback: 60, ...bounds }),
    total: integer(env, 'SERVICE_PASSWORD_BUDGET_TOTAL', { fallback: 1200, ...bounds }),
  })
}

function token(env: Env): string {
  const value = read(env, 'SERVICE_TOKEN') ?? ''
  if (value.length > 4096 || /[^\x21-\x7e]/.test(value)) {
    const allowed = 'at most 4096 visible ASCII characters without spaces'
    refuse('SERVICE_TOKEN', 'cannot be sent as a Bearer token', allowed)
  }
  return value
}

/**
 * Checks settings that must fit each other: a sole process has neither NATS nor MySQL, a cluster
 * has both.
 */
function together(env: Env): Pick<Config, 'databaseUrl' | 'databaseCaFile' | 'cluster' | 'roles'> {
  const url = databaseUrl(env)
  const isShared = /^mysqls?:/.test(url)
  const databaseCaFile = caFile(env, 'SERVICE_DATABASE_CA_FILE')
  const natsCaFile = caFile(env, 'SERVICE_NATS_CA_FILE')
  const natsUrl = natsUrlOf(env)
  const streamReplicas = replicas(env)
  const both = 'for a cluster a mysql: database and SERVICE_NATS_URL, for one process neither'
  if (natsUrl === undefined) {
    if (isShared) refuse('SERVICE_DATABASE_URL', 'names MySQL without SERVICE_NATS_URL', both)
    if (streamReplicas > 1) {
      refuse('SERVICE_STREAM_REPLICAS', `is ${streamReplicas} without SERVICE_NATS_URL`, both)
    }
    for (const [name, file] of [
      ['SERVICE_DATABASE_CA_FILE', databaseCaFile],
      ['SERVICE_NATS_CA_FILE', natsCaFile],
    ] as const) {
      if (file !== undefined) refuse(name, 'is set without SERVICE_NATS_URL', both)
    }
    const alone = { databaseUrl: url, databaseCaFile, cluster: undefined }
    return { ...alone, roles: roles(env, { isCluster: false }) }
  }
  if (!isShared) refuse('SERVICE_NATS_URL', 'is set and SERVICE_DATABASE_URL names SQLite', both)
  if (databaseCaFile !== undefined || url.startsWith('mysqls:')) refuseIPv6(url)
  const cluster = Object.freeze({ natsUrl, natsCaFile, streamReplicas })
  return { databaseUrl: url, databaseCaFile, cluster, roles: roles(env, { isCluster: true }) }
}

function replicas(env: Env): number {
  const text = oneOf(env, 'SERVICE_STREAM_REPLICAS', '1', ['1', '3', '5'])
  return Number(text)
}

function nodeId(env: Env, entropy: Runtime['entropy']): string {
  const text = read(env, 'SERVICE_NODE_ID') ?? entropy(6).toString('hex')
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(text)) {
    refuse('SERVICE_NODE_ID', `is ${JSON.stringify(text)}`, '1 to 64 of letters, digits, _ and -')
  }
  return text
}

/** `7d`, or `7d,none`: without records of updates of Things that are sent as soon as applied. */
function statusRetention(env: Env): Pick<Config, 'statusRetentionMs' | 'recordsUpdates'> {
  const name = 'SERVICE_STATUS_RETENTION'
  const [first = '', second, ...rest] = (read(env, name) ?? STATUS_RETENTION.fallback).split(',')
  if (rest.length > 0 || (second !== undefined && second.trim() !== 'none')) {
    refuse(name, 'has a second part', 'a duration, alone or with none behind it: 7d,none')
  }
  const statusRetentionMs = duration({ [name]: first }, name, STATUS_RETENTION)
  return { statusRetentionMs, recordsUpdates: second === undefined }
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

// The roles of a process in a cluster.

const ROLES = ['ingress', 'actors', 'dispatch'] as const
type Role = (typeof ROLES)[number]

type Roles = Readonly<Record<Role, boolean>>

/** Reads the roles. A sole process must take requests and apply them; it may leave dispatch out. */
export function roles(env: Env, { isCluster }: { readonly isCluster: boolean }): Roles {
  const text = read(env, 'SERVICE_ROLES') ?? ROLES.join(',')
  const names = text.split(',').map((name) => name.trim())
  const known: readonly string[] = ROLES
  const allowed = `one or more of ${ROLES.join(', ')}`
  if (!names.every((name) => known.includes(name)) || new Set(names).size !== names.length) {
    refuse('SERVICE_ROLES', `is ${JSON.stringify(text)}`, allowed)
  }
  const [ingress, actors, dispatch] = ROLES.map((role) => names.includes(role))
  if (!isCluster && !(ingress === true && actors === true)) {
    const everything = `${ROLES.join(',')}, for one process does everything`
    refuse('SERVICE_ROLES', `is ${JSON.stringify(text)} without SERVICE_NATS_URL`, everything)
  }
  return Object.freeze({
    ingress: ingress === true,
    actors: actors === true,
    dispatch: dispatch === true,
  })
}
