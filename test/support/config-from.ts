// Settings as a process reads them, and settings that others need beside them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { configFrom as readConfig } from '#src/config/config'
import type { Config, Env } from '#src/config/config'
import { realRuntime } from '#test/support/real-runtime'

/** The settings in this environment. Throws ConfigError. */
export const configFrom = (env: Env): Config => readConfig(env, realRuntime)

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A file that exists, wherever the tests run. */
export const FILE = import.meta.filename

export const MYSQL = 'mysql://user:password@host:3306/heliograph'
export const CLUSTER: Env = {
  SERVICE_DATABASE_URL: MYSQL,
  SERVICE_NATS_URL: 'nats://127.0.0.1:4222',
}
export const COMPAT: Env = { SERVICE_COMPAT_ROOT: 'topic', SERVICE_COMPAT_ADDR: '127.0.0.1:8081' }
export const APPLE = {
  keyFile: FILE,
  keyId: 'KEY1234567',
  teamId: 'TEAM123456',
  topic: 'org.example.app',
}
export const APNS: Env = {
  SERVICE_APNS_KEY_FILE: APPLE.keyFile,
  SERVICE_APNS_KEY_ID: APPLE.keyId,
  SERVICE_APNS_TEAM_ID: APPLE.teamId,
  SERVICE_APNS_TOPIC: APPLE.topic,
}
const keyFolder = mkdtempSync(join(tmpdir(), 'heliograph-key-'))
process.once('exit', () => rmSync(keyFolder, { recursive: true, force: true }))
const keyFile = join(keyFolder, 'bridge.key')
writeFileSync(keyFile, `${'k'.repeat(43)}\n`)
export const BRIDGE = {
  SERVICE_MQTT_BRIDGE_URL: 'mqtt://broker',
  SERVICE_MQTT_BRIDGE_TOPICS: 'tele/#, zigbee2mqtt/+/state',
  SERVICE_MQTT_BRIDGE_KEY_FILE: keyFile,
}
/** The longest gateway token. */
export const LONG_TOKEN = 'x'.repeat(4096)
