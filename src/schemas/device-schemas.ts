// The JSON schemas of requests about devices and of their answers. (decisions.md 7)

import { CHANNEL_TYPES, PLATFORMS } from '#domain/device'

import { given, object, oneOf, requiredText, text } from './json-schema.ts'

export const DEVICE_KEY = requiredText('The credential of the device, from /device/register.')
const PLATFORM = requiredText(`In any case: ${PLATFORMS.join(', ')}; win is windows.`)
const CHANNEL_TYPE = requiredText(`In any case: ${CHANNEL_TYPES.join(', ')}.`)
const TOKEN_RULE = 'Apple: 64 to 256 hex digits; others: 16 to 4096 printable ASCII characters.'

export const REGISTER_REQUEST = object(
  { device_key: text('The key from an earlier registration.'), platform: PLATFORM },
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

export const SET_ROUTE_REQUEST = object(
  {
    device_key: DEVICE_KEY,
    channel_type: CHANNEL_TYPE,
    provider_token: text(`Required for apns and fcm, forbidden for private. ${TOKEN_RULE}`),
  },
  ['device_key', 'channel_type'],
)

export const ROUTE_DATA = object(
  {
    device_key: given('string', 'The device.'),
    channel_type: oneOf(CHANNEL_TYPES, 'How the device is reached from now on.'),
    provider_token: given('string', 'The address of the device at its provider.'),
  },
  ['device_key', 'channel_type'],
)

export const DELETE_ROUTE_REQUEST = object({ device_key: DEVICE_KEY, channel_type: CHANNEL_TYPE }, [
  'device_key',
  'channel_type',
])

export const RETIRE_TOKEN_REQUEST = object(
  { platform: PLATFORM, provider_token: requiredText(TOKEN_RULE) },
  ['platform', 'provider_token'],
)

export const RETIRE_TOKEN_DATA = object(
  { retired: given('boolean', 'Always true, also for a token that nobody has.') },
  ['retired'],
)
