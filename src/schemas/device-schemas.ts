// The JSON schemas of requests about devices and of their answers. (decisions.md 7)

import { APPLE_PLATFORMS, CHANNEL_TYPES, PLATFORMS } from '#domain/device'

import { ABSENT, given, inOneCase, object, oneOf, requiredText, text } from './json-schema.ts'
import { APPLE_TOKEN_FORM, DEVICE_KEY_FORM, OTHER_TOKEN_FORM } from './patterns.ts'
import { anyCase, trimmed, trimmedOrBlank } from './patterns.ts'

export const DEVICE_KEY = requiredText(
  'The credential of the device, from /device/register.',
  trimmed(DEVICE_KEY_FORM),
)

/** One of these words in any case; the first is the example. */
const wordOf = (words: readonly string[], also: readonly string[] = []) => ({
  ...requiredText(`In any case: ${words.join(', ')}.`, trimmed(anyCase([...words, ...also]))),
  examples: [words[0]],
})

const OTHER_PLATFORMS = PLATFORMS.filter((platform) => !APPLE_PLATFORMS.includes(platform))
const PLATFORM = wordOf(PLATFORMS, ['win'])
const CHANNEL_TYPE = wordOf(CHANNEL_TYPES)
const TOKEN_RULE = 'Apple: 64 to 256 hex digits; others: 16 to 4096 printable ASCII characters.'

export const REGISTER_REQUEST = object(
  {
    device_key: {
      type: ['string', 'null'],
      description: 'The key from an earlier registration; a new one is issued for any other text.',
    },
    platform: PLATFORM,
  },
  ['platform'],
)

export const REGISTER_DATA = object(
  {
    device_key: given('string', 'The credential of the device: keep it secret.'),
    issued_new_key: given('boolean', 'True when the key is a new one.'),
    issue_reason: oneOf(
      ['device_key_missing', 'device_key_not_found', 'platform_mismatch'],
      'Why a new key was issued.',
    ),
  },
  ['device_key', 'issued_new_key'],
)

const APPLE_TOKEN = {
  ...requiredText('64 to 256 hex digits.', trimmed(APPLE_TOKEN_FORM)),
  examples: ['0123456789abcdef'.repeat(4)],
}
const OTHER_TOKEN = requiredText(
  '16 to 4096 printable ASCII characters.',
  trimmed(OTHER_TOKEN_FORM),
)

export const SET_ROUTE_REQUEST = inOneCase(
  object(
    {
      device_key: DEVICE_KEY,
      channel_type: CHANNEL_TYPE,
      provider_token: text(
        `Required for apns and fcm, forbidden for private. ${TOKEN_RULE}`,
        trimmedOrBlank(OTHER_TOKEN_FORM),
      ),
    },
    ['device_key', 'channel_type'],
  ),
  [
    {
      ...object({ channel_type: wordOf(['private']), provider_token: ABSENT }, []),
      title: 'Over its own connection',
    },
    {
      ...object({ channel_type: wordOf(['apns']), provider_token: APPLE_TOKEN }, [
        'provider_token',
      ]),
      title: 'Apple device over APNs',
    },
    {
      ...object({ channel_type: wordOf(['fcm']), provider_token: OTHER_TOKEN }, ['provider_token']),
      title: 'Android device over FCM',
    },
  ],
)

export const ROUTE_DATA = object(
  {
    device_key: given('string', 'The device.'),
    channel_type: oneOf(CHANNEL_TYPES, 'The route to the device from now on.'),
    provider_token: given('string', 'The address of the device at its provider.'),
  },
  ['device_key', 'channel_type'],
)

export const DELETE_ROUTE_REQUEST = object({ device_key: DEVICE_KEY, channel_type: CHANNEL_TYPE }, [
  'device_key',
  'channel_type',
])

export const RETIRE_TOKEN_REQUEST = inOneCase(
  object({ platform: PLATFORM, provider_token: requiredText(TOKEN_RULE) }, [
    'platform',
    'provider_token',
  ]),
  [
    {
      ...object({ platform: wordOf(APPLE_PLATFORMS), provider_token: APPLE_TOKEN }, []),
      title: 'Apple device',
    },
    {
      ...object({ platform: wordOf(OTHER_PLATFORMS, ['win']), provider_token: OTHER_TOKEN }, []),
      title: 'Other device',
    },
  ],
)

export const RETIRE_TOKEN_DATA = object(
  { retired: given('boolean', 'Always true, also for a token that nobody has.') },
  ['retired'],
)
