// The routes that read the gateway's state. (decisions.md 8)

import { EVENT_STATES, THING_STATES } from '#domain/entity'
import { ACTIONS, MODELS } from '#domain/submission'

import { CREDENTIALS, DEVICE_KEY } from './credentials.ts'
import { EVENT_DATA } from './event-schemas.ts'
import { ABSENT, given, eitherOf, list, object, whole, oneOf } from './json-schema.ts'
import { requiredText, text, time } from './json-schema.ts'
import type { JsonSchema, Properties } from './json-schema.ts'
import { CURSOR_FORM, DELIVERY_ID_FORM, ENTITY_ID_FORM, LIMIT_FORM } from './patterns.ts'
import { WHOLE_FORM, anyCase, trimmed, trimmedOrBlank } from './patterns.ts'
import { KEYED, routes } from './route.ts'
import { THING_DATA } from './thing-schemas.ts'

export const LIMIT_MAX = 200
export const LIMIT_FALLBACK = 50
export const DELIVERIES_MAX = 200

const READER = {
  channel_id: CREDENTIALS.channel_id,
  password: text('The Channel password, or a key. Exactly one of password and device_key.'),
  device_key: text('The credential of a device that is subscribed to the Channel.'),
} as const

const READER_CASES = [
  {
    ...object({ password: CREDENTIALS.password, device_key: ABSENT }, ['password']),
    title: 'By password',
  },
  { ...object({ password: ABSENT, device_key: DEVICE_KEY }, ['device_key']), title: 'By device' },
] as const

/** A request of a caller with the password, or of a subscribed device. */
const readingRequest = <
  const Members extends Properties,
  const Required extends keyof Members & string,
>(
  members: Members,
  required: readonly Required[],
) => eitherOf(object({ ...READER, ...members }, ['channel_id', ...required]), READER_CASES)

const limit = (fallback: number) =>
  ({
    type: ['integer', 'string', 'null'],
    minimum: 1,
    maximum: LIMIT_MAX,
    pattern: trimmedOrBlank(LIMIT_FORM),
    description: `The most items to give: 1 to ${LIMIT_MAX}; ${fallback} when absent.`,
  }) as const
/** The members of a request for one page of a list. */
export const PAGE = {
  limit: limit(LIMIT_FALLBACK),
  cursor: text(
    'next_cursor of the page before; absent for the first page.',
    trimmedOrBlank(CURSOR_FORM),
  ),
} as const

export const STATES = { thing: THING_STATES, event: EVENT_STATES } as const

const stateOf = (model: string, states: readonly string[]) => ({
  ...text(`Only ${model}s in this state: ${states.join(', ')}.`, trimmedOrBlank(anyCase(states))),
  examples: states.slice(0, 1),
})

const THING_ID = { thing_id: requiredText('The Thing.', trimmed(ENTITY_ID_FORM)) } as const
const EVENT_ID = { event_id: requiredText('The Event.', trimmed(ENTITY_ID_FORM)) } as const

const HISTORY_REQUEST = readingRequest(
  {
    after_seq: {
      type: ['integer', 'string', 'null'],
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      pattern: trimmedOrBlank(WHOLE_FORM),
      description: 'Only entries behind this seq; a cursor takes its place.',
    },
    since: time('Only entries accepted then or later.'),
    model: text(
      `Only entries of one model: ${MODELS.join(', ')}.`,
      trimmedOrBlank(anyCase(MODELS)),
    ),
    entity_id: text(
      'Only entries of this Message, Event or Thing.',
      trimmedOrBlank(ENTITY_ID_FORM),
    ),
    ...PAGE,
  },
  [],
)

export const FEED_ENTRY = object(
  {
    delivery_id: given('string', 'Acknowledges the entry: /messages/ack takes it.'),
    channel_id: given('string', 'The Channel.'),
    seq: given('integer', 'Its number in the feed of the Channel.'),
    op_id: given('string', 'The operation that made it.'),
    model: oneOf(MODELS, 'The model of the submission.'),
    action: oneOf(
      ACTIONS,
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

const page = <const Items extends JsonSchema>(items: Items) =>
  object(
    {
      items: list(items, 'One page.'),
      next_cursor: given('string', 'The cursor of the next page; absent on the last one.'),
    },
    ['items'],
  )

export const READING_ROUTES = routes('Reading', {
  '/thing/get': {
    summary: 'Get the present state of one thing',
    request: readingRequest(THING_ID, ['thing_id']),
    data: THING_DATA,
    codes: [...KEYED, 'entity_not_found'],
  },
  '/thing/list': {
    summary: 'List the things of a Channel, newest change first',
    request: readingRequest({ state: stateOf('thing', STATES.thing), ...PAGE }, []),
    data: page(THING_DATA),
    codes: [...KEYED, 'invalid_cursor'],
  },
  '/event/get': {
    summary: 'Get the present state of one event',
    request: readingRequest(EVENT_ID, ['event_id']),
    data: EVENT_DATA,
    codes: [...KEYED, 'entity_not_found'],
  },
  '/event/list': {
    summary: 'List the events of a Channel, newest change first',
    request: readingRequest(
      {
        state: stateOf('event', STATES.event),
        thing_id: text('Only Events that belong to this Thing.', trimmedOrBlank(ENTITY_ID_FORM)),
        ...PAGE,
      },
      [],
    ),
    data: page(EVENT_DATA),
    codes: [...KEYED, 'invalid_cursor'],
  },
  '/channel/history': {
    summary: 'Read the feed of a Channel in seq order',
    request: HISTORY_REQUEST,
    data: page(FEED_ENTRY),
    codes: [...KEYED, 'invalid_cursor', 'invalid_timestamp'],
  },
  '/messages/pull': {
    summary: 'Get the deliveries that a device has not acknowledged',
    request: object({ device_key: DEVICE_KEY, limit: limit(LIMIT_MAX) }, ['device_key']),
    data: whole({
      items: list(FEED_ENTRY, 'Entries that are not acknowledged yet.'),
      has_more: given('boolean', 'True when there is more behind these.'),
    }),
    codes: ['device_key_not_found'],
  },
  '/messages/ack': {
    summary: 'Acknowledge deliveries',
    request: whole({
      device_key: DEVICE_KEY,
      delivery_ids: {
        type: 'array',
        minItems: 1,
        maxItems: DELIVERIES_MAX,
        items: { type: 'string', pattern: trimmed(DELIVERY_ID_FORM) },
        description: `1 to ${DELIVERIES_MAX} different delivery_id values, in any order.`,
      },
    }),
    data: whole({
      requested_count: given(
        'integer',
        'The number of different deliveries that the request names.',
      ),
      removed_count: given('integer', 'The number of those that were not acknowledged before.'),
    }),
    codes: ['device_key_not_found', 'delivery_id_invalid'],
  },
})
