// The send-key and device-key styles in the OpenAPI document. Their values have names, in a query,
// in a form and in JSON.

import { given, inOneCase, object, requiredText } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import {
  KEYS_BETWEEN_COMMAS,
  OPERATION_ID_FORM,
  VISIBLE_TEXT,
  exactly,
} from '#src/schemas/patterns'
import { DEVICE_KEYS_MAX } from './devicekey.ts'

/** Types of values in JSON that count as text. */
const SCALAR = ['string', 'number', 'boolean'] as const

type Descriptions = Readonly<Record<string, string>>

/** Texts in a query or a form. */
const textsOf = (descriptions: Descriptions): ObjectSchema =>
  object(
    Object.fromEntries(
      Object.entries(descriptions).map(([name, text]) => [name, given('string', text)]),
    ),
    [],
  )

/** The same in JSON: numbers and booleans count as text, other values as absent. */
const scalarsOf = (descriptions: Descriptions): ObjectSchema =>
  object(
    Object.fromEntries(
      Object.entries(descriptions).map(([name, description]) => [name, { description }]),
    ),
    [],
  )

const SEND_KEY_DESCRIPTIONS = {
  title: 'The title.',
  text: 'An older name of title.',
  desp: 'The text, in Markdown.',
  tags: 'Tags, with bars between them.',
  short: 'A short text for a card.',
  encoded: '1: desp is encrypted.',
}

/** The members of which one must say something, by the name of the case. */
const SEND_KEY_CASES = { title: 'Title', text: 'Older title', desp: 'Text' } as const

const wholeOf = (values: ObjectSchema, type: JsonSchema['type']): ObjectSchema =>
  inOneCase(
    values,
    Object.entries(SEND_KEY_CASES).map(([name, title]) => ({
      ...object({ [name]: { type, pattern: VISIBLE_TEXT } }, [name]),
      title,
    })),
  )

/** At least one of title, text and desp must say something. */
export const SEND_KEY_VALUES = wholeOf(textsOf(SEND_KEY_DESCRIPTIONS), 'string')
export const SEND_KEY_JSON = wholeOf(scalarsOf(SEND_KEY_DESCRIPTIONS), SCALAR)

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
