// The JSON schemas of the answers in answers.ts: entities, feed entries, operation records, and
// their pages.

import { OPERATION_STATUSES } from '#domain/operation'
import { MODELS } from '#domain/submission'

import { given, object, oneOf } from './json-schema.ts'
import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import { STATES } from './reading-schemas.ts'

export const OPERATION_DATA = object(
  {
    op_id: given('string', 'The operation.'),
    status: oneOf(OPERATION_STATUSES, 'The progress of the operation; it only moves forward.'),
    model: oneOf(MODELS, 'The model of the submission.'),
    entity_id: given('string', 'The Message, Event or Thing.'),
    accepted_at: given('integer', 'Unix milliseconds.'),
    updated_at: given('integer', 'Unix milliseconds.'),
    expires_at: given('integer', 'Unix milliseconds; afterwards the record is gone.'),
    error_code: given('string', 'Why the submission failed; only with status failed.'),
  },
  ['op_id', 'status', 'model', 'entity_id', 'accepted_at', 'updated_at', 'expires_at'],
)

const strings = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
})

const ENTITY = {
  rev: given('integer', 'Grows by one with each change.'),
  seq: given('integer', 'The feed entry of the last change.'),
  changed_at: given('integer', 'When the gateway accepted the last change, in Unix milliseconds.'),
  title: given('string', 'As submitted.'),
  description: given('string', 'As submitted.'),
  tags: strings('As submitted.'),
  images: strings('As submitted.'),
  attrs: given('object', 'The present values by key.'),
  metadata: given('object', 'As submitted.'),
  ciphertext: given('string', 'As submitted.'),
} as const

export const THING_DATA: ObjectSchema = object(
  {
    thing_id: given('string', 'The Thing.'),
    state: oneOf(STATES.thing, 'The present state.'),
    observed_at: given('integer', 'The newest observation, in Unix milliseconds.'),
    ...ENTITY,
    primary_image: given('string', 'As submitted.'),
    location_type: given('string', 'As submitted.'),
    location_value: given('string', 'As submitted.'),
    created_at: given('integer', 'As submitted, in Unix milliseconds.'),
    deleted_at: given('integer', 'As submitted, in Unix milliseconds.'),
    external_ids: given('object', 'Names in other systems by key.'),
  },
  ['thing_id', 'state', 'observed_at', 'rev', 'seq', 'changed_at', 'attrs'],
)

export const EVENT_DATA: ObjectSchema = object(
  {
    event_id: given('string', 'The Event.'),
    state: oneOf(STATES.event, 'The present state.'),
    event_time: given('integer', 'The newest update, in Unix milliseconds.'),
    ...ENTITY,
    status: given('string', 'As submitted.'),
    message: given('string', 'As submitted.'),
    severity: given('string', 'As submitted.'),
    started_at: given('integer', 'As submitted, in Unix milliseconds.'),
    ended_at: given('integer', 'As submitted, in Unix milliseconds.'),
    thing_id: given('string', 'The Thing that it belongs to.'),
  },
  ['event_id', 'state', 'event_time', 'rev', 'seq', 'changed_at', 'attrs'],
)

export const FEED_ENTRY: ObjectSchema = object(
  {
    delivery_id: given('string', 'Acknowledges the entry: /messages/ack takes it.'),
    channel_id: given('string', 'The Channel.'),
    seq: given('integer', 'Its number in the feed of the Channel.'),
    op_id: given('string', 'The operation that made it.'),
    model: oneOf(MODELS, 'The model of the submission.'),
    action: oneOf(
      ['send', 'create', 'update', 'close', 'archive', 'delete', 'sync'],
      'The action of the submission; sync stands for the whole current state of a Thing.',
    ),
    entity_id: given('string', 'The Message, Event or Thing.'),
    state: given('string', 'The state of the Thing or Event behind this entry.'),
    rev: given('integer', 'The revision of the Thing or Event behind this entry.'),
    accepted_at: given('integer', 'Unix milliseconds.'),
    payload: given('object', 'The Message, or the changes of the Thing or Event.'),
  },
  [
    'delivery_id',
    'channel_id',
    'seq',
    'op_id',
    'model',
    'action',
    'entity_id',
    'accepted_at',
    'payload',
  ],
)

const page = (items: JsonSchema): JsonSchema =>
  object(
    {
      items: { type: 'array', items, description: 'One page.' },
      next_cursor: given('string', 'The cursor of the next page; absent on the last one.'),
    },
    ['items'],
  )

export const THING_LIST_DATA = page(THING_DATA)
export const EVENT_LIST_DATA = page(EVENT_DATA)
export const HISTORY_DATA = page(FEED_ENTRY)

export const PULL_DATA = object(
  {
    items: {
      type: 'array',
      items: FEED_ENTRY,
      description: 'Entries that are not acknowledged yet.',
    },
    has_more: given('boolean', 'True when there is more behind these.'),
  },
  ['items', 'has_more'],
)

export const ACK_DATA = object(
  {
    requested_count: given('integer', 'The number of different deliveries that the request names.'),
    removed_count: given('integer', 'The number of those that were not acknowledged before.'),
  },
  ['requested_count', 'removed_count'],
)
