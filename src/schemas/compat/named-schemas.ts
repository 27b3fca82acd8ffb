// The send-key and device-key styles in the OpenAPI document. Their values have names, which stand
// in the query, in a form or in JSON alike.

import { given, object } from '#src/schemas/json-schema'
import type { ObjectSchema } from '#src/schemas/json-schema'

const textsOf = (descriptions: Readonly<Record<string, string>>): ObjectSchema =>
  object(
    Object.fromEntries(
      Object.entries(descriptions).map(([name, text]) => [name, given('string', text)]),
    ),
    [],
  )

export const SEND_KEY_VALUES = textsOf({
  title: 'The title.',
  text: 'An older name of title.',
  desp: 'The text, in Markdown.',
  tags: 'Tags, with bars between them.',
  short: 'A short text for a card.',
  encoded: '1: desp is encrypted.',
})

export const SEND_KEY_STATUS_QUERY = textsOf({
  id: 'The pushid of the answer.',
  readkey: 'The readkey of the answer; it is not checked.',
})

/** Success has the code 0. */
export const SEND_KEY_ANSWER = object(
  {
    code: given('integer', '0 for success.'),
    message: given('string', 'The error, for a reader; empty for success.'),
    data: given('object', 'pushid and readkey, or the error once more.'),
  },
  ['code', 'message', 'data'],
)

export const DEVICE_KEY_VALUES = textsOf({
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
})

export const DEVICE_KEY_PUSH = object(
  {
    ...DEVICE_KEY_VALUES.properties,
    device_key: given('string', 'The key.'),
    device_keys: {
      type: ['array', 'string'],
      items: { type: 'string' },
      description: 'Several keys, in JSON: a list, or a text with commas.',
    },
  },
  [],
)

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
