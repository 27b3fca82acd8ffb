// The settings of MQTT. (decisions.md 1)

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
