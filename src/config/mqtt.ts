// The settings of MQTT. (decisions.md 1)

import { readFileSync } from 'node:fs'

import { isKeyForm } from '#domain/identity'
import { CERT, tls } from './private-transports.ts'
import { address, oneOf, read, refuse } from './setting.ts'
import type { Address, Env } from './setting.ts'

export interface MqttSettings {
  /** Undefined: there is no such listener. */
  readonly plain: Address | undefined
  /** With the certificate of the private transports. */
  readonly tls: Address | undefined
  /** True when the HTTP listener takes MQTT over WebSocket at /mqtt. */
  readonly overWebSocket: boolean
}

const KEY = 'SERVICE_PRIVATE_TLS_KEY'

/** Reads the settings of MQTT; a bad one throws ConfigError. */
export function mqtt(env: Env): MqttSettings {
  const settings: MqttSettings = {
    plain: listener(env, 'SERVICE_MQTT_ADDR'),
    tls: listener(env, 'SERVICE_MQTT_TLS_ADDR'),
    overWebSocket: oneOf(env, 'SERVICE_MQTT_WS', 'false', ['true', 'false']) === 'true',
  }
  if (settings.tls !== undefined && tls(env, CERT, KEY) === undefined) {
    refuse('SERVICE_MQTT_TLS_ADDR', `is set without ${CERT}`, `${CERT} and ${KEY}: PEM files`)
  }
  return Object.freeze(settings)
}

const listener = (env: Env, name: string): Address | undefined =>
  read(env, name) === undefined ? undefined : address(env, name, '')

// The settings of the bridge: the broker whose publishes the gateway takes. (decisions.md 1)

export interface BridgeSettings {
  /** May hold a password. */
  readonly url: string
  readonly topics: readonly string[]
  /** A channel key: a secret. */
  readonly key: string
}

const URL_SETTING = 'SERVICE_MQTT_BRIDGE_URL'
const TOPICS = 'SERVICE_MQTT_BRIDGE_TOPICS'
const KEY_FILE = 'SERVICE_MQTT_BRIDGE_KEY_FILE'
const TOPICS_MAX = 100

/** Reads the settings of the bridge, all or none of which are set; a bad one throws ConfigError. */
export function mqttBridge(env: Env): BridgeSettings | undefined {
  const settings = [URL_SETTING, TOPICS, KEY_FILE]
  const given = settings.find((name) => read(env, name) !== undefined)
  if (given === undefined) return undefined
  const missing = settings.find((name) => read(env, name) === undefined)
  if (missing !== undefined)
    refuse(given, `is set without ${missing}`, `${settings.join(', ')} together`)
  return Object.freeze({ url: brokerUrl(env), topics: topicsOf(env), key: keyOf(env) })
}

function brokerUrl(env: Env): string {
  const text = read(env, URL_SETTING) ?? ''
  const url = URL.parse(text)
  const isBroker = url !== null && /^mqtts?:$/.test(url.protocol) && url.hostname !== ''
  if (!isBroker || !/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') {
    refuse(URL_SETTING, 'is no broker', 'mqtt://[user:password@]host[:port], or mqtts:// for TLS')
  }
  return text
}

/** A filter: `+` and `#` stand for whole levels, `#` at the end only. */
const isFilter = (text: string): boolean =>
  /^(?:(?:[^+#/\0]*|\+)\/)*(?:[^+#/\0]*|\+|#)$/.test(text) && text !== ''

function topicsOf(env: Env): readonly string[] {
  const topics = (read(env, TOPICS) ?? '').split(',').map((topic) => topic.trim())
  if (topics.length > TOPICS_MAX || !topics.every(isFilter)) {
    refuse(TOPICS, 'is no list of topics', `up to ${TOPICS_MAX} topic filters, parted by commas`)
  }
  return Object.freeze(topics)
}

function keyOf(env: Env): string {
  const allowed = 'a file that holds a channel key of 43 letters and digits'
  try {
    const key = readFileSync(read(env, KEY_FILE) ?? '', 'utf8').trim()
    return isKeyForm(key) ? key : refuse(KEY_FILE, 'names a file without a key', allowed)
  } catch (error) {
    if (error instanceof Error && 'code' in error) refuse(KEY_FILE, 'cannot be read', allowed)
    throw error
  }
}
