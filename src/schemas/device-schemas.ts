// The routes of devices. (decisions.md 7)

import { APPLE_PLATFORMS, CHANNEL_TYPES, PLATFORMS } from '#domain/device'

import { DEVICE_KEY } from './credentials.ts'
import {
  ABSENT,
  given,
  inOneCase,
  object,
  whole,
  oneOf,
  requiredText,
  text,
} from './json-schema.ts'
import { APPLE_TOKEN_FORM, OTHER_TOKEN_FORM } from './patterns.ts'
import { anyCase, trimmed, trimmedOrBlank } from './patterns.ts'
import { routes } from './route.ts'

/** One of these words in any case; the first is the example. */
const wordOf = <Word extends string>(words: readonly Word[], also: readonly string[] = []) => ({
  ...requiredText(`In any case: ${words.join(', ')}.`, trimmed(anyCase([...words, ...also]))),
  examples: words.slice(0, 1),
})

const OTHER_PLATFORMS = PLATFORMS.filter((platform) => !APPLE_PLATFORMS.includes(platform))
const PLATFORM = wordOf(PLATFORMS, ['win'])
const CHANNEL_TYPE = wordOf(CHANNEL_TYPES)
const TOKEN_RULE = 'Apple: 64 to 256 hex digits; others: 16 to 4096 printable ASCII characters.'

const ROUTE_DATA = object(
  {
    device_key: given('string', 'The device.'),
    channel_type: oneOf(CHANNEL_TYPES, 'The route to the device from now on.'),
    provider_token: given('string', 'The address of the device at its provider.'),
  },
  ['device_key', 'channel_type'],
)

const APPLE_TOKEN = {
  ...requiredText('64 to 256 hex digits.', trimmed(APPLE_TOKEN_FORM)),
  examples: ['0123456789abcdef'.repeat(4)],
}
const OTHER_TOKEN = requiredText(
  '16 to 4096 printable ASCII characters.',
  trimmed(OTHER_TOKEN_FORM),
)

const SET_ROUTE_REQUEST = inOneCase(
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

const RETIRE_TOKEN_REQUEST = inOneCase(
  whole({ platform: PLATFORM, provider_token: requiredText(TOKEN_RULE) }),
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

export const DEVICE_ROUTES = routes('Devices', {
  '/device/register': {
    summary: 'Register a device, or confirm its key',
    request: object(
      {
        device_key: {
          type: ['string', 'null'],
          description:
            'The key from an earlier registration; a new one is issued for any other text.',
        },
        platform: PLATFORM,
      },
      ['platform'],
    ),
    data: object(
      {
        device_key: given('string', 'The credential of the device: keep it secret.'),
        issued_new_key: given('boolean', 'True when the key is a new one.'),
        issue_reason: oneOf(
          ['device_key_missing', 'device_key_not_found', 'platform_mismatch'],
          'Why a new key was issued.',
        ),
      },
      ['device_key', 'issued_new_key'],
    ),
  },
  '/channel/device': {
    summary: 'Set the route to a device',
    request: SET_ROUTE_REQUEST,
    data: ROUTE_DATA,
    codes: [
      'device_key_not_found',
      'provider_token_required',
      'provider_token_forbidden_for_private_channel',
      'invalid_provider_token',
      'apns_channel_requires_apple_platform',
      'fcm_channel_requires_android_platform',
    ],
  },
  '/channel/device/delete': {
    summary: 'Set the route to a device back to private',
    request: whole({ device_key: DEVICE_KEY, channel_type: CHANNEL_TYPE }),
    data: ROUTE_DATA,
    codes: ['device_key_not_found', 'channel_type_mismatch'],
  },
  '/channel/device/provider-token/retire': {
    summary: 'Retire a provider token',
    request: RETIRE_TOKEN_REQUEST,
    data: whole({ retired: given('boolean', 'Always true, also for a token that nobody has.') }),
    codes: ['invalid_provider_token'],
  },
})
