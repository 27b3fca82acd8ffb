// The send-key style in the OpenAPI document.

import { SCALAR, scalarsOf, textsOf } from '#src/compat/named-values'
import { given, inOneCase, object, requiredText } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { OPERATION_ID_FORM, VISIBLE_TEXT, exactly } from '#src/schemas/patterns'

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
