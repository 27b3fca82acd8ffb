// Goal: requests about devices are read as decisions.md 7 says. Method: one row a request.

import test from 'ava'

import type { ChannelType } from '#domain/device'
import type { Platform } from '#domain/push/providers'
import { isFault } from '#domain/fault'
import { DEVICE, checkProviderToken } from '#src/schemas/device-routes'
import { readersOf } from '#src/schemas/shape'
import { DEVICE_KEY } from '#test/support/making'

const READ = readersOf(DEVICE)

const judged = (read: unknown): unknown =>
  isFault(read) ? `${read.code} ${read.field ?? ''}` : read

const APPLE_TOKEN = 'ab'.repeat(32)
const OTHER_TOKEN = 'fcm:Token-16_abc'

const registers: readonly (readonly [sent: unknown, expected: unknown])[] = [
  [{ platform: 'ios' }, { platform: 'ios' }],
  [{ platform: ' macOS ' }, { platform: 'macos' }],
  [{ platform: 'WIN' }, { platform: 'windows' }],
  [{ platform: 'other', extra: 1 }, { platform: 'other' }],
  [
    { platform: 'linux', device_key: ' any text ' },
    { platform: 'linux', deviceKey: 'any text' },
  ],
  [
    { platform: 'web', device_key: DEVICE_KEY },
    { platform: 'web', deviceKey: DEVICE_KEY },
  ],
  [{ platform: 'web', device_key: ' ' }, { platform: 'web' }],
  [{ platform: 'web', device_key: null }, { platform: 'web' }],
  [{ platform: 'web', device_key: 5 }, 'invalid_json_data device_key'],
  [{ platform: 'symbian' }, 'invalid_platform platform'],
  [{ platform: '' }, 'invalid_platform platform'],
  [{ platform: 5 }, 'invalid_json_data platform'],
  [{ platform: null }, 'invalid_platform platform'],
  [{}, 'invalid_platform platform'],
  [[], 'invalid_json_data '],
]

test('a registration takes a platform, and a device_key of any form', (t) => {
  for (const [sent, expected] of registers) {
    t.deepEqual(judged(READ.register(sent)), expected, JSON.stringify(sent))
  }
})

const route = { device_key: DEVICE_KEY, channel_type: 'apns' }
const read = { deviceKey: DEVICE_KEY, channelType: 'apns' }

// Change to the request, and what is read by the setting and by the deleting route.
const routes: readonly (readonly [more: object, expected: unknown])[] = [
  [{}, read],
  [{ device_key: ` ${DEVICE_KEY} `, channel_type: ' APNS ' }, read],
  [{ channel_type: 'private' }, { ...read, channelType: 'private' }],
  [{ channel_type: 'wns' }, 'invalid_channel_type channel_type'],
  [{ channel_type: undefined }, 'invalid_channel_type channel_type'],
  [{ channel_type: null }, 'invalid_channel_type channel_type'],
  [{ channel_type: [] }, 'invalid_json_data channel_type'],
  [{ device_key: undefined }, 'validation_failed device_key'],
  [{ device_key: ' ' }, 'validation_failed device_key'],
  [{ device_key: 5 }, 'invalid_json_data device_key'],
  [{ device_key: 'd'.repeat(31) }, 'device_key_not_found device_key'],
  [{ device_key: 'd'.repeat(33) }, 'device_key_not_found device_key'],
  [{ device_key: 'D'.repeat(32) }, 'device_key_not_found device_key'],
]

test('a route names its device and its channel_type', (t) => {
  for (const [more, expected] of routes) {
    const sent = { ...route, ...more }
    t.deepEqual(judged(READ.setRoute(sent)), expected, JSON.stringify(more))
    t.deepEqual(judged(READ.deleteRoute(sent)), expected, JSON.stringify(more))
  }
  t.deepEqual(READ.setRoute({ ...route, provider_token: ' a ' }), { ...read, providerToken: 'a' })
  t.deepEqual(READ.setRoute({ ...route, provider_token: ' ' }), read)
  t.like(READ.setRoute({ ...route, provider_token: 5 }), { code: 'invalid_json_data' })
  t.deepEqual(READ.deleteRoute({ ...route, provider_token: 5 }), read)
})

const FORM = 'invalid_provider_token provider_token'
const NEEDED = 'provider_token_required provider_token'
const APPLE_ONLY = 'apns_channel_requires_apple_platform channel_type'
const ANDROID_ONLY = 'fcm_channel_requires_android_platform channel_type'
const FORBIDDEN = 'provider_token_forbidden_for_private_channel provider_token'

const tokens: readonly (readonly [Platform, ChannelType, string | undefined, unknown])[] = [
  ['ios', 'apns', ` ${APPLE_TOKEN.toUpperCase()} `, APPLE_TOKEN],
  ['watchos', 'apns', 'a'.repeat(256), 'a'.repeat(256)],
  ['ipados', 'apns', 'a'.repeat(257), FORM],
  ['macos', 'apns', 'a'.repeat(63), FORM],
  ['ios', 'apns', 'g'.repeat(64), FORM],
  ['ios', 'apns', undefined, NEEDED],
  ['ios', 'apns', '', NEEDED],
  ['android', 'apns', APPLE_TOKEN, APPLE_ONLY],
  ['windows', 'apns', undefined, APPLE_ONLY],
  ['android', 'fcm', ` ${OTHER_TOKEN} `, OTHER_TOKEN],
  ['android', 'fcm', 'a'.repeat(15), FORM],
  ['android', 'fcm', 'a'.repeat(4096), 'a'.repeat(4096)],
  ['android', 'fcm', 'a'.repeat(4097), FORM],
  ['android', 'fcm', 'with a blank inside it', FORM],
  ['android', 'fcm', 'ünprintable-token', FORM],
  ['android', 'fcm', '{"a":"0123456789"}', FORM],
  ['android', 'fcm', undefined, NEEDED],
  ['ios', 'fcm', OTHER_TOKEN, ANDROID_ONLY],
  ['linux', 'private', undefined, undefined],
  ['ios', 'private', ' ', undefined],
  ['ios', 'private', APPLE_TOKEN, FORBIDDEN],
]

test('a provider token fits its platform and its channel_type', (t) => {
  for (const [platform, type, token, expected] of tokens) {
    const got = judged(checkProviderToken(platform, type, token))
    t.is(got, expected, `${platform} ${type} ${String(token).length}`)
  }
})

const retired: readonly (readonly [sent: object, expected: unknown])[] = [
  [
    { platform: 'ios', provider_token: APPLE_TOKEN.toUpperCase() },
    { platform: 'ios', providerToken: APPLE_TOKEN },
  ],
  [
    { platform: 'Android', provider_token: OTHER_TOKEN },
    { platform: 'android', providerToken: OTHER_TOKEN },
  ],
  [{ platform: 'ios', provider_token: OTHER_TOKEN }, FORM],
  [{ platform: 'ios' }, NEEDED],
  [{ platform: 'ios', provider_token: ' ' }, NEEDED],
  [{ platform: 'x', provider_token: OTHER_TOKEN }, 'invalid_platform platform'],
  [{ provider_token: OTHER_TOKEN }, 'invalid_platform platform'],
  [{ platform: 'ios', provider_token: 5 }, 'invalid_json_data provider_token'],
]

test('a token is retired in the form in which it is kept', (t) => {
  for (const [sent, expected] of retired) {
    t.deepEqual(judged(READ.retireToken(sent)), expected, JSON.stringify(sent))
  }
})

test('no refusal holds the device key or the token', (t) => {
  const key = 'S3CRET'.repeat(6)
  for (const refusal of [
    READ.setRoute({ ...route, device_key: key }),
    checkProviderToken('android', 'fcm', `${key} ${key}`),
    READ.retireToken({ platform: 'ios', provider_token: key }),
  ]) {
    t.true(isFault(refusal))
    t.false(JSON.stringify(refusal).includes('S3CRET'))
  }
})
