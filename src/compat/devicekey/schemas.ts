// The device-key style in the OpenAPI document.

import { SCALAR, scalarsOf, textsOf } from '#src/compat/values-body'
import { given, object, requiredText } from '#src/schemas/json-schema'
import type { JsonSchema } from '#src/schemas/json-schema'
import { KEYS_BETWEEN_COMMAS, VISIBLE_TEXT } from '#src/schemas/patterns'
import { DEVICE_KEYS_MAX } from './message.ts'

const DEVICE_KEY_DESCRIPTIONS = {
  title: 'The title.',
  subtitle: 'The subtitle.',
  body: 'The text.',
  markdown: 'The text in Markdown, in place of body.',
  level: 'critical, timeSensitive, active or passive.',
  url: 'The URL that a tap opens.',
  image: 'The URL of a picture.',
  icon: 'The URL of an icon.',
  group: 'The group of the notification.',
  sound: 'The name of a sound.',
  ciphertext: 'The encrypted message.',
  iv: 'The initialisation vector of ciphertext.',
}

export const DEVICE_KEY_VALUES = textsOf(DEVICE_KEY_DESCRIPTIONS)
export const DEVICE_KEY_JSON = scalarsOf(DEVICE_KEY_DESCRIPTIONS)

const ONE_KEY = requiredText('The key.', VISIBLE_TEXT)
const KEYS = {
  maxItems: DEVICE_KEYS_MAX,
  items: { type: 'string' },
  description: `Up to ${DEVICE_KEYS_MAX} keys: a list, or a text with commas.`,
} as const
/** A list or a text in which there is a key. */
const SEVERAL_KEYS = {
  ...KEYS,
  type: ['array', 'string'],
  contains: { type: 'string', pattern: VISIBLE_TEXT },
  pattern: KEYS_BETWEEN_COMMAS,
} as const
/** An object holds further members, as everywhere in this style. */
const MAYBE_KEYS = { ...KEYS, type: ['array', 'string', 'object', 'null'] } as const

/** A push to one key; in JSON to one or several. */
export const DEVICE_KEY_PUSH_FORM = object(
  { ...DEVICE_KEY_VALUES.properties, device_key: ONE_KEY },
  ['device_key'],
)
export const DEVICE_KEY_PUSH_JSON: JsonSchema = {
  anyOf: [
    object(
      {
        ...DEVICE_KEY_JSON.properties,
        device_key: { ...ONE_KEY, type: SCALAR },
        device_keys: MAYBE_KEYS,
      },
      ['device_key'],
    ),
    object({ ...DEVICE_KEY_JSON.properties, device_keys: SEVERAL_KEYS }, ['device_keys']),
  ],
}

export const DEVICE_KEY_ANSWER = object(
  {
    code: given('integer', 'The status.'),
    message: given('string', 'success, or the error for a reader.'),
    timestamp: given('integer', 'Unix seconds.'),
    data: {
      type: 'array',
      items: object(
        {
          code: given('integer', 'The status for this key.'),
          device_key: given('string', 'The key, in which no password stands.'),
          message: given('string', 'The error, for a reader.'),
        },
        ['code', 'device_key'],
      ),
      description: 'One result for each of device_keys.',
    },
  },
  ['code', 'message', 'timestamp'],
)
