// The JSON schemas of Message, Event and Thing requests and of what answers them. (Specification:
// Resources and their fields.) A schema names only what its route reads; every other member is
// ignored or, as its description says, refused.

import type { EventAction, ThingAction } from '#domain/submission'

import {
  given,
  keyed,
  object,
  patchText,
  requiredText,
  requiredTime,
  text,
  texts,
  time,
} from './json-schema.ts'
import type { JsonSchema, ObjectSchema } from './json-schema.ts'

export const CREDENTIALS = {
  channel_id: requiredText(
    'The Channel: 26 Crockford Base32 characters in any case; white space and hyphens are ignored.',
  ),
  password: requiredText('The Channel password: 8 to 128 bytes after trimming.'),
} as const

const CIPHERTEXT = 'An end-to-end-encrypted payload, carried as it is.'

const SHARED = {
  metadata: keyed('Scalars by key: keys up to 64 bytes, texts 1 to 512 bytes.', [
    'string',
    'number',
    'boolean',
  ]),
} as const

const ENTITY_ID = '1 to 64 letters, digits, _, : or -.'
const THING_SCOPE = `The Thing that this belongs to: ${ENTITY_ID} It need not exist.`

export const MESSAGE_REQUEST: ObjectSchema = object(
  {
    ...CREDENTIALS,
    title: requiredText('Must not be blank.'),
    op_id: text('Idempotency key: 1 to 128 letters, digits, _, : or -.'),
    body: text('Markdown is allowed.'),
    severity: text('critical, high, normal or low; anything else is normal.'),
    occurred_at: time('When it happened; required together with thing_id.'),
    ttl: time('When delivery to providers ends, at most 30 days from now.'),
    url: text('Where a click leads.'),
    images: texts('Up to 32 URLs of at most 2048 bytes.'),
    tags: texts('Up to 32 of at most 64 bytes, trimmed and without repeats.'),
    ...SHARED,
    ciphertext: text(CIPHERTEXT),
    thing_id: text(THING_SCOPE),
  },
  ['channel_id', 'password', 'title'],
  'message_id must not be sent. Other unlisted members are ignored.',
)

/** The same as query parameters of the legacy GET route. */
export const MESSAGE_QUERY: ObjectSchema = object(
  Object.fromEntries(
    Object.entries(MESSAGE_REQUEST.properties).map(([name, { description }]) => [
      name,
      { type: 'string', description: `${String(description)}${queryForm(name)}` },
    ]),
  ),
  MESSAGE_REQUEST.required,
)

function queryForm(name: string): string {
  if (name === 'metadata') return ' As JSON text.'
  return name === 'images' || name === 'tags' ? ' Separated by commas.' : ''
}

const EVENT_PATCH = {
  title: patchText('What the process is called.'),
  description: patchText('What it is about.'),
  status: patchText('Free text.'),
  message: patchText('What is happening now.'),
  severity: patchText('Free text; critical, high, normal and low decide how a push interrupts.'),
  tags: texts('Replaces the tags.'),
  images: texts('Replaces the image URLs.'),
  attrs: keyed('Values to set by key; null removes a key. At most 32 levels.'),
  ...SHARED,
  ciphertext: patchText(CIPHERTEXT),
  thing_id: patchText(THING_SCOPE),
} as const

const EVENT_ID = requiredText(`The Event: ${ENTITY_ID}`)
const EVENT_TIME = requiredTime('The time of this update.')

export const EVENT_REQUESTS: Readonly<Record<EventAction, ObjectSchema>> = {
  create: object(
    { ...CREDENTIALS, event_time: EVENT_TIME, ...EVENT_PATCH, started_at: time('When it began.') },
    ['channel_id', 'password', 'event_time'],
    'op_id, event_id and ended_at must not be sent. Other unlisted members are ignored.',
  ),
  update: object(
    { ...CREDENTIALS, event_id: EVENT_ID, event_time: EVENT_TIME, ...EVENT_PATCH },
    ['channel_id', 'password', 'event_id', 'event_time'],
    'op_id and ended_at must not be sent. Other unlisted members are ignored.',
  ),
  close: object(
    {
      ...CREDENTIALS,
      event_id: EVENT_ID,
      event_time: EVENT_TIME,
      ...EVENT_PATCH,
      ended_at: time('When it ended.'),
    },
    ['channel_id', 'password', 'event_id', 'event_time'],
    'op_id must not be sent. Other unlisted members are ignored.',
  ),
}

const THING_PATCH = {
  title: patchText('What the object is called.'),
  description: patchText('What it is.'),
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

const THING_ID = requiredText(`The Thing: ${ENTITY_ID}`)
const OBSERVED_AT = requiredTime('When this state was observed.')
const WITH_THING_ID = ['channel_id', 'password', 'thing_id', 'observed_at'] as const
const KNOWN_THING = {
  ...CREDENTIALS,
  thing_id: THING_ID,
  observed_at: OBSERVED_AT,
  ...THING_PATCH,
} as const

export const THING_REQUESTS: Readonly<Record<ThingAction, ObjectSchema>> = {
  create: object(
    {
      ...CREDENTIALS,
      observed_at: OBSERVED_AT,
      ...THING_PATCH,
      created_at: time('When it began.'),
    },
    ['channel_id', 'password', 'observed_at'],
    'op_id, state, thing_id and deleted_at must not be sent. Other unlisted members are ignored.',
  ),
  update: object(
    KNOWN_THING,
    WITH_THING_ID,
    'op_id, state and deleted_at must not be sent. Other unlisted members are ignored.',
  ),
  archive: object(
    KNOWN_THING,
    WITH_THING_ID,
    'op_id, state and deleted_at must not be sent. Other unlisted members are ignored.',
  ),
  delete: object(
    { ...KNOWN_THING, deleted_at: time('When it ceased to be.') },
    WITH_THING_ID,
    'op_id and state must not be sent. Other unlisted members are ignored.',
  ),
}

const accepted = (idName: string): JsonSchema =>
  object(
    {
      op_id: given('string', 'The operation: ask /send_status/{op_id} how it goes.'),
      [idName]: given('string', 'The entity that this submission made or changed.'),
    },
    ['op_id', idName],
  )

/** What a submission is answered with. */
export const ACCEPTED_DATA: Readonly<Record<'message' | 'event' | 'thing', JsonSchema>> = {
  message: accepted('message_id'),
  event: accepted('event_id'),
  thing: accepted('thing_id'),
}
