// The send-key and device-key styles in the OpenAPI document. Their values have names, which stand
// in the query, in a form or in JSON alike.

import { given, object, requiredText } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { OPERATION_ID_FORM, exactly } from '#src/schemas/patterns'
import { DEVICE_KEYS_MAX } from './devicekey.ts'

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

/** The same where they stand alone: title, text or desp must say something. */
export const SEND_KEY_WHOLE = object(
  { ...SEND_KEY_VALUES.properties, title: requiredText('The title.') },
  ['title'],
)

export const SEND_KEY_STATUS_QUERY = object(
  {
    id: requiredText('The pushid of the answer.', exactly(OPERATION_ID_FORM)),
    readkey: given('string', 'The readkey of the answer; it is not checked.'),
  },
  ['id'],
)

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

const PUSH = object({ ...DEVICE_KEY_VALUES.properties, device_key: requiredText('The key.') }, [
  'device_key',
])
const BATCH = object(
  {
    ...DEVICE_KEY_VALUES.properties,
    device_keys: {
      type: ['array', 'string'],
      minItems: 1,
      maxItems: DEVICE_KEYS_MAX,
      items: requiredText('A key.'),
      pattern: '[^,\\s]',
      description: 'Several keys: a list, or a text with commas.',
    },
  },
  ['device_keys'],
)

/** To one key; in JSON to several. */
export const DEVICE_KEY_PUSH_FORM: JsonSchema = PUSH
export const DEVICE_KEY_PUSH: JsonSchema = { anyOf: [PUSH, BATCH] }

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
