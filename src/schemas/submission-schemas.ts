// The JSON schemas of Message, Event and Thing requests and of their answers. (Specification:
// Resources and their fields.) A schema names the members that its route reads or refuses; every
// other member is ignored.

import type { EventAction, ThingAction } from '#domain/submission'

import { exampleOf } from './examples.ts'
import { IMAGE_BYTES_MAX, LIST_ITEMS_MAX, METADATA_KEY_BYTES_MAX } from './fields.ts'
import { METADATA_TEXT_BYTES_MAX, TAG_BYTES_MAX } from './fields.ts'
import {
  ABSENT,
  forbidden,
  given,
  inOneCase,
  keyed,
  limitedTexts,
  object,
  patchText,
  requiredText,
  requiredTime,
  scalars,
  text,
  texts,
  time,
} from './json-schema.ts'
import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import {
  BLANK,
  CHANNEL_ID,
  CHANNEL_ID_CHARACTERS_MAX,
  ENTITY_ID_FORM,
  NOT_BLANK,
} from './patterns.ts'
import { OPERATION_ID_FORM, bytesForm, listOf, trimmed, trimmedOrBlank } from './patterns.ts'
import { PASSWORD_BYTES_MAX, PASSWORD_BYTES_MIN } from './values.ts'

export const PASSWORD_PATTERN = trimmed(bytesForm(PASSWORD_BYTES_MIN, PASSWORD_BYTES_MAX))

export const CREDENTIALS = {
  channel_id: {
    ...requiredText(
      'The Channel: 26 Crockford Base32 characters in any case; white space and hyphens are ' +
        'ignored.',
      CHANNEL_ID,
    ),
    maxLength: CHANNEL_ID_CHARACTERS_MAX,
  },
  password: requiredText('The Channel password: 8 to 128 bytes after trimming.', PASSWORD_PATTERN),
} as const

const CIPHERTEXT = 'An end-to-end-encrypted payload, carried as it is.'

const SHARED = {
  metadata: scalars('Scalars by key: keys up to 64 bytes, texts 1 to 512 bytes.', {
    keyBytesMax: METADATA_KEY_BYTES_MAX,
    textBytesMax: METADATA_TEXT_BYTES_MAX,
  }),
} as const

const ENTITY_ID = '1 to 64 letters, digits, _, : or -.'
const THING_SCOPE = `The Thing that this belongs to: ${ENTITY_ID} It need not exist.`
const OP_ID = forbidden('The gateway makes the op_id.')

const MESSAGE_FIELDS = {
  ...CREDENTIALS,
  title: requiredText('Must not be blank.'),
  op_id: text(
    'Idempotency key: 1 to 128 letters, digits, _, : or -.',
    trimmedOrBlank(OPERATION_ID_FORM),
  ),
  body: text('Markdown is allowed.'),
  severity: {
    type: ['string', 'null'],
    description: 'critical, high, normal or low in any case; anything else is normal.',
  },
  occurred_at: time('When it happened; required together with thing_id.'),
  ttl: time('When delivery to providers ends, at most 30 days from now.'),
  url: text('The page that a click opens.'),
  images: limitedTexts('Up to 32 URLs of at most 2048 bytes.', {
    itemsMax: LIST_ITEMS_MAX,
    bytesMax: IMAGE_BYTES_MAX,
  }),
  tags: limitedTexts('Up to 32 of at most 64 bytes, trimmed and without repeats.', {
    itemsMax: LIST_ITEMS_MAX,
    bytesMax: TAG_BYTES_MAX,
  }),
  ...SHARED,
  ciphertext: text(CIPHERTEXT),
  thing_id: text(THING_SCOPE, trimmedOrBlank(ENTITY_ID_FORM)),
} as const
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

export const MESSAGE_REQUEST: ObjectSchema = inOneCase(
  object(
    { ...MESSAGE_FIELDS, message_id: forbidden('The gateway makes the message_id.') },
    MESSAGE_REQUIRED,
  ),
  messageCases(ABSENT),
)

const LIST_BYTES = new Map([
  ['images', IMAGE_BYTES_MAX],
  ['tags', TAG_BYTES_MAX],
])

/** The same as query parameters of the legacy GET route. */
export const MESSAGE_QUERY: ObjectSchema = inOneCase(
  object(
    {
      ...Object.fromEntries(
        Object.entries(MESSAGE_FIELDS).map(([name, schema]) => [name, inQuery(name, schema)]),
      ),
      metadata: { ...SHARED.metadata, type: 'object' },
    },
    MESSAGE_REQUIRED,
  ),
  messageCases({ type: 'string', pattern: BLANK }),
)

/** The same member as text; a list is separated by commas. */
function inQuery(name: string, { pattern, maxLength, description }: JsonSchema): JsonSchema {
  const examples = [String(exampleOf(name, {}))]
  const bytesMax = LIST_BYTES.get(name)
  if (bytesMax === undefined) {
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
    pattern: listOf(bytesMax, LIST_ITEMS_MAX),
    description: `${String(description)} Separated by commas.`,
    examples,
  }
}

const EVENT_PATCH = {
  title: patchText('The name of the process.'),
  description: patchText('A description of the process.'),
  status: patchText('Free text.'),
  message: patchText('The latest news of the process.'),
  severity: patchText('Free text; critical, high, normal and low decide how a push interrupts.'),
  tags: texts('Replaces the tags.'),
  images: texts('Replaces the image URLs.'),
  attrs: keyed('Values to set by key; null removes a key. At most 32 levels.'),
  ...SHARED,
  ciphertext: patchText(CIPHERTEXT),
  thing_id: patchText(THING_SCOPE, trimmedOrBlank(ENTITY_ID_FORM)),
} as const

const EVENT_ID = requiredText(`The Event: ${ENTITY_ID}`, trimmed(ENTITY_ID_FORM))
const EVENT_TIME = requiredTime('The time of this update.')

const ENDED_AT = forbidden('Only close takes it.')
const KNOWN_EVENT = {
  ...CREDENTIALS,
  event_id: EVENT_ID,
  event_time: EVENT_TIME,
  ...EVENT_PATCH,
  op_id: OP_ID,
} as const
const WITH_EVENT_ID = ['channel_id', 'password', 'event_id', 'event_time'] as const

export const EVENT_REQUESTS: Readonly<Record<EventAction, ObjectSchema>> = {
  create: object(
    {
      ...CREDENTIALS,
      event_time: EVENT_TIME,
      ...EVENT_PATCH,
      started_at: time('When it began.'),
      op_id: OP_ID,
      event_id: forbidden('The gateway makes the event_id.'),
      ended_at: ENDED_AT,
    },
    ['channel_id', 'password', 'event_time'],
  ),
  update: object({ ...KNOWN_EVENT, ended_at: ENDED_AT }, WITH_EVENT_ID),
  close: object({ ...KNOWN_EVENT, ended_at: time('When it ended.') }, WITH_EVENT_ID),
}

/** The request below /thing/{thing_id}, where the path names the Thing. */
export function scopedEventRequest(action: EventAction): ObjectSchema {
  const { properties, ...request } = EVENT_REQUESTS[action]
  const repeated = 'Not needed: the path names the Thing. The body may repeat the same id.'
  return {
    ...request,
    properties: { ...properties, thing_id: { ...ABSENT, description: repeated } },
  }
}

const THING_PATCH = {
  title: patchText('The name of the object.'),
  description: patchText('A description of the object.'),
  tags: texts('Replaces the tags.'),
  images: texts('Replaces the image URLs.'),
  primary_image: patchText('The image to show first.'),
  location_type: patchText('Free text.'),
  location_value: patchText('Free text.'),
  external_ids: keyed('Names in other systems: JSON values by key; null removes a key.'),
  attrs: keyed('Values to set by key; null removes a key. At most 32 levels.'),
  ...SHARED,
  ciphertext: patchText(CIPHERTEXT),
} as const

const THING_ID = requiredText(`The Thing: ${ENTITY_ID}`, trimmed(ENTITY_ID_FORM))
const OBSERVED_AT = requiredTime('When this state was observed.')
const WITH_THING_ID = ['channel_id', 'password', 'thing_id', 'observed_at'] as const
const STATE = forbidden('The route decides the state.')
const KNOWN_THING = {
  ...CREDENTIALS,
  thing_id: THING_ID,
  observed_at: OBSERVED_AT,
  ...THING_PATCH,
  op_id: OP_ID,
  state: STATE,
} as const
const DELETED_AT = forbidden('Only delete takes it.')

export const THING_REQUESTS: Readonly<Record<ThingAction, ObjectSchema>> = {
  create: object(
    {
      ...CREDENTIALS,
      observed_at: OBSERVED_AT,
      ...THING_PATCH,
      created_at: time('When it began.'),
      op_id: OP_ID,
      state: STATE,
      thing_id: forbidden('The gateway makes the thing_id.'),
      deleted_at: DELETED_AT,
    },
    ['channel_id', 'password', 'observed_at'],
  ),
  update: object({ ...KNOWN_THING, deleted_at: DELETED_AT }, WITH_THING_ID),
  archive: object({ ...KNOWN_THING, deleted_at: DELETED_AT }, WITH_THING_ID),
  delete: object({ ...KNOWN_THING, deleted_at: time('When it ceased to be.') }, WITH_THING_ID),
}

const accepted = (idName: string): JsonSchema =>
  object(
    {
      op_id: given('string', 'The operation; GET /send_status/{op_id} gives its status.'),
      [idName]: given('string', 'The entity that this submission makes or changes.'),
    },
    ['op_id', idName],
  )

/** The data of the answer to a submission. */
export const ACCEPTED_DATA: Readonly<Record<'message' | 'event' | 'thing', JsonSchema>> = {
  message: accepted('message_id'),
  event: accepted('event_id'),
  thing: accepted('thing_id'),
}
