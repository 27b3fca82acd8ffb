// The settings of Apple's push service.

import { read, refuse, refuseMissingFile } from '#src/config/setting'
import type { Env } from '#src/config/setting'
import type { ReadingFor, SettingsOf } from '#src/providers/settings-of'

export interface ApnsSettings {
  readonly keyFile: string
  readonly keyId: string
  readonly teamId: string
  readonly topic: string
  /** `host` or `host:port`. */
  readonly host: string
}

export const APNS_SETTINGS: SettingsOf<ApnsSettings> = {
  names: [
    'SERVICE_APNS_HOST',
    'SERVICE_APNS_KEY_FILE',
    'SERVICE_APNS_KEY_ID',
    'SERVICE_APNS_TEAM_ID',
    'SERVICE_APNS_TOPIC',
  ],
  read: apnsSettings,
}

const APNS_HOST = 'api.push.apple.com'
const APPLE_ID = /^[A-Z0-9]{10}$/
const TOPIC = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/
const HOST = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?$/

function apnsSettings(env: Env, { dispatch }: ReadingFor): ApnsSettings | undefined {
  const keyFile = read(env, 'SERVICE_APNS_KEY_FILE')
  const keyId = read(env, 'SERVICE_APNS_KEY_ID')
  const teamId = read(env, 'SERVICE_APNS_TEAM_ID')
  const topic = read(env, 'SERVICE_APNS_TOPIC')
  const together = [
    ['SERVICE_APNS_KEY_FILE', keyFile, 'the .p8 file of the key'],
    ['SERVICE_APNS_KEY_ID', keyId, 'the 10 characters of the key in its file name'],
    ['SERVICE_APNS_TEAM_ID', teamId, 'the 10 characters of the team'],
    ['SERVICE_APNS_TOPIC', topic, "the app's bundle identifier"],
  ] as const
  const host = apnsHost(env)
  if (together.every(([, value]) => value === undefined)) return undefined
  for (const [name, value, allowed] of together) {
    if (value === undefined) refuse(name, 'is missing beside other SERVICE_APNS settings', allowed)
  }
  if (dispatch) refuseMissingFile('SERVICE_APNS_KEY_FILE', keyFile)
  const id = (name: string, value = ''): string =>
    APPLE_ID.test(value) ? value : refuse(name, 'has an unknown form', '10 of A to Z and 0 to 9')
  return {
    keyFile: keyFile ?? '',
    keyId: id('SERVICE_APNS_KEY_ID', keyId),
    teamId: id('SERVICE_APNS_TEAM_ID', teamId),
    topic: TOPIC.test(topic ?? '')
      ? (topic ?? '')
      : refuse('SERVICE_APNS_TOPIC', `is ${JSON.stringify(topic)}`, 'for example org.example.app'),
    host,
  }
}

function apnsHost(env: Env): string {
  const host = read(env, 'SERVICE_APNS_HOST') ?? APNS_HOST
  if (HOST.test(host) && Number(host.split(':')[1] ?? 1) <= 65_535) return host
  const allowed = `${APNS_HOST}, api.sandbox.push.apple.com, or another host or host:port`
  return refuse('SERVICE_APNS_HOST', `is ${JSON.stringify(host)}`, allowed)
}
