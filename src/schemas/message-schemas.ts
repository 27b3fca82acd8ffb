// The routes of Messages: their fields (fields/submission-fields.ts), and the members beside them.

import { isRecord } from '#domain/record'

import { CREDENTIALS } from './credentials.ts'
import { exampleOf } from './document/examples.ts'
import { takenBy } from './fields/field-schemas.ts'
import { LIST_ITEMS_MAX } from './fields/field-reader.ts'
import { MESSAGE_FIELDS } from './fields/submission-fields.ts'
import type { Fields } from './fields/submission-fields.ts'
import { ABSENT, forbidden, inOneCase, object, requiredText, whole } from './json-schema.ts'
import type { JsonSchema, ObjectSchema, Properties } from './json-schema.ts'
import { BLANK, OPERATION_ID_FORM, listOf, trimmed } from './patterns.ts'
import { read } from './members.ts'
import { post, routes } from './route.ts'
import { OPERATION_DATA, SUBMITTING, accepted } from './submission-schemas.ts'
import { OPERATION_ID, OPERATION_ID_RULE, invalid, readParsed } from './values.ts'

const FIELDS = { ...CREDENTIALS, ...takenBy(MESSAGE_FIELDS, 'send') } as const
const MESSAGE_REQUIRED = ['channel_id', 'password', 'title'] as const

/** A Message about a Thing must have a time. */
const MESSAGE_CASES: readonly ObjectSchema[] = [
  { ...object({ thing_id: ABSENT }, []), title: 'Message of a Channel' },
  {
    ...object(
      {
        occurred_at: FIELDS.occurred_at,
        op_id: { examples: ['boiler-1:pressure:17'] },
      },
      ['occurred_at'],
    ),
    title: 'Message of a Thing',
  },
]

export const MESSAGE_REQUEST = {
  ...inOneCase(
    object(
      { ...FIELDS, message_id: forbidden('The gateway makes the message_id.') },
      MESSAGE_REQUIRED,
    ),
    MESSAGE_CASES,
  ),
  // Of two times to send it at nobody knows which one counts.
  dependentSchemas: { deliver_at: { properties: { delay: { type: 'string', pattern: BLANK } } } },
}

/** The same as query parameters of the legacy GET route. */
const MESSAGE_QUERY = object<Properties, string>(
  Object.fromEntries(Object.entries(FIELDS).map(([name, schema]) => [name, inQuery(name, schema)])),
  MESSAGE_REQUIRED,
)

/** The same member as text; a list is separated by commas. */
function inQuery(name: string, schema: JsonSchema): JsonSchema {
  const { type, pattern, maxLength, description } = schema
  const example = exampleOf(name, {})
  if (Array.isArray(type) && type.includes('number')) return schema
  if (isRecord(example)) {
    const examples = [JSON.stringify(example)]
    return { type: 'string', description: `${String(description)} As JSON.`, examples }
  }
  const examples = [String(example)]
  const { [name]: field }: Fields = MESSAGE_FIELDS
  if (field?.bytesMax === undefined) {
    return {
      type: 'string',
      ...(pattern !== undefined && { pattern }),
      ...(maxLength !== undefined && { maxLength }),
      description,
      examples,
    }
  }
  return {
    type: 'string',
    pattern: listOf(field.bytesMax, LIST_ITEMS_MAX),
    description: `${String(description)} Separated by commas.`,
    examples,
  }
}

/** The operation of the Message. */
const CANCELLED_OP_ID = read(
  requiredText(
    'The op_id of the Message, from the answer to its sender.',
    trimmed(OPERATION_ID_FORM),
  ),
  (sent, field) => readParsed(field, sent, OPERATION_ID) ?? invalid(field, OPERATION_ID_RULE),
  'cancels',
)

const SEND = {
  data: accepted('Message'),
  codes: [
    ...SUBMITTING,
    'message_id_forbidden',
    'occurred_at_required_for_thing_scoped_message',
    'op_id_payload_conflict',
    'op_id_scope_conflict',
  ],
} as const

/** The submissions of Messages. */
export const MESSAGE = routes('Submissions', 'Message', {
  send: { ...SEND, path: '/message', summary: 'Send a Message', request: MESSAGE_REQUEST },
  sendByQuery: {
    ...SEND,
    path: '/message',
    method: 'GET',
    operation: 'sendMessageByQuery',
    summary: 'Send a Message by query parameters (legacy)',
    query: MESSAGE_QUERY,
  },
})

export const CANCELLATION = routes('Submissions', 'Message', {
  cancel: post('/message/cancel', 'Cancel a Message that waits for its time', {
    request: whole({ ...CREDENTIALS, op_id: CANCELLED_OP_ID }),
    data: OPERATION_DATA,
    codes: [...SUBMITTING, 'send_status_not_found', 'message_already_sent', 'server_busy'],
  }),
})
