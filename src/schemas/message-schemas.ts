// The routes of Messages: their fields (fields/submission-fields.ts), and the members beside them.

import { CREDENTIALS } from './credentials.ts'
import { exampleOf } from './document/examples.ts'
import { takenBy } from './fields/field-schemas.ts'
import { LIST_ITEMS_MAX } from './fields/field-reader.ts'
import { MESSAGE_FIELDS } from './fields/submission-fields.ts'
import type { Fields } from './fields/submission-fields.ts'
import { ABSENT, forbidden, inOneCase, object, requiredText } from './json-schema.ts'
import type { JsonSchema, ObjectSchema, Properties } from './json-schema.ts'
import { BLANK, NOT_BLANK, OPERATION_ID_FORM, listOf, trimmed } from './patterns.ts'
import { routes } from './route.ts'
import { OPERATION_DATA, SUBMITTING, accepted } from './submission-schemas.ts'

const MESSAGE = { ...CREDENTIALS, ...takenBy(MESSAGE_FIELDS, 'send') } as const
const MESSAGE_REQUIRED = ['channel_id', 'password', 'title'] as const

/** A Message about a Thing must have a time. */
const messageCases = (absent: JsonSchema): readonly ObjectSchema[] => [
  { ...object({ thing_id: absent }, []), title: 'Message of a Channel' },
  {
    ...object(
      {
        occurred_at: { type: ['number', 'string'], pattern: NOT_BLANK },
        op_id: { examples: ['boiler-1:pressure:17'] },
      },
      ['occurred_at'],
    ),
    title: 'Message of a Thing',
  },
]

export const MESSAGE_REQUEST = inOneCase(
  object(
    { ...MESSAGE, message_id: forbidden('The gateway makes the message_id.') },
    MESSAGE_REQUIRED,
  ),
  messageCases(ABSENT),
)

/** The same as query parameters of the legacy GET route. */
const MESSAGE_QUERY = inOneCase(
  object<Properties, string>(
    {
      ...Object.fromEntries(
        Object.entries(MESSAGE).map(([name, schema]) => [name, inQuery(name, schema)]),
      ),
      metadata: { ...MESSAGE.metadata, type: 'object' },
    },
    MESSAGE_REQUIRED,
  ),
  messageCases({ type: 'string', pattern: BLANK }),
)

/** The same member as text; a list is separated by commas. */
function inQuery(name: string, { pattern, maxLength, description }: JsonSchema): JsonSchema {
  const examples = [String(exampleOf(name, {}))]
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

const CANCELLED_OP_ID = requiredText(
  'The op_id of the Message, from the answer to its sender.',
  trimmed(OPERATION_ID_FORM),
)

const SEND = {
  data: accepted('message_id'),
  codes: [
    ...SUBMITTING,
    'message_id_forbidden',
    'occurred_at_required_for_thing_scoped_message',
    'op_id_payload_conflict',
    'op_id_scope_conflict',
  ],
} as const

export const MESSAGE_ROUTES = routes('Submissions', {
  '/message': { ...SEND, summary: 'Send a Message', request: MESSAGE_REQUEST },
  '/message/cancel': {
    summary: 'Cancel a Message that waits for its time',
    request: object({ ...CREDENTIALS, op_id: CANCELLED_OP_ID }, [
      'channel_id',
      'password',
      'op_id',
    ]),
    data: OPERATION_DATA,
    codes: [...SUBMITTING, 'send_status_not_found', 'message_already_sent', 'server_busy'],
  },
  'GET /message': {
    ...SEND,
    summary: 'Send a Message by query parameters (legacy)',
    query: MESSAGE_QUERY,
  },
})
