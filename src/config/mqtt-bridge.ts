// The settings of the bridge: the broker whose publishes the gateway takes. (decisions.md 1)

import { readFileSync } from 'node:fs'

import { isKeyForm } from '#domain/identity'
import { read, refuse } from './setting.ts'
import type { Env } from './setting.ts'

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
