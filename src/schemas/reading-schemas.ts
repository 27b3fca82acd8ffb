// The JSON schemas of requests that read the gateway's state. (decisions.md 8)

import { MODELS } from '#domain/submission'

import { DEVICE_KEY } from './device-schemas.ts'
import { ABSENT, inOneCase, object, requiredText, text, time } from './json-schema.ts'
import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import { CURSOR_FORM, DELIVERY_ID_FORM, ENTITY_ID_FORM, LIMIT_FORM } from './patterns.ts'
import { WHOLE_FORM, anyCase, trimmed, trimmedOrBlank } from './patterns.ts'
import { CREDENTIALS } from './submission-schemas.ts'

export const LIMIT_MAX = 200
export const LIMIT_FALLBACK = 50
export const DELIVERIES_MAX = 200

const READER = {
  channel_id: CREDENTIALS.channel_id,
  password: text('The Channel password. Exactly one of password and device_key.'),
  device_key: text('The credential of a device that is subscribed to the Channel.'),
} as const

/** A request of a caller with the password, or of a subscribed device. */
const readingRequest = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): ObjectSchema =>
  inOneCase(object({ ...READER, ...properties }, ['channel_id', ...required]), READER_CASES)

const READER_CASES = [
  {
    ...object({ password: CREDENTIALS.password, device_key: ABSENT }, ['password']),
    title: 'By password',
  },
  { ...object({ password: ABSENT, device_key: DEVICE_KEY }, ['device_key']), title: 'By device' },
] as const

const limit = (fallback: number): JsonSchema => ({
  type: ['integer', 'string', 'null'],
  minimum: 1,
  maximum: LIMIT_MAX,
  pattern: trimmedOrBlank(LIMIT_FORM),
  description: `The most items to give: 1 to ${LIMIT_MAX}; ${fallback} when absent.`,
})
const PAGE = {
  limit: limit(LIMIT_FALLBACK),
  cursor: text(
    'next_cursor of the page before; absent for the first page.',
    trimmedOrBlank(CURSOR_FORM),
  ),
} as const

export const STATES = {
  thing: ['active', 'archived', 'deleted'],
  event: ['open', 'closed'],
} as const

const stateFilter = (model: 'thing' | 'event'): JsonSchema => ({
  ...text(
    `Only ${model}s in this state: ${STATES[model].join(', ')}.`,
    trimmedOrBlank(anyCase(STATES[model])),
  ),
  examples: [STATES[model][0]],
})

export const ENTITY_GET_REQUESTS = {
  thing: readingRequest({ thing_id: requiredText('The Thing.', trimmed(ENTITY_ID_FORM)) }, [
    'thing_id',
  ]),
  event: readingRequest({ event_id: requiredText('The Event.', trimmed(ENTITY_ID_FORM)) }, [
    'event_id',
  ]),
} as const

export const ENTITY_LIST_REQUESTS = {
  thing: readingRequest({ state: stateFilter('thing'), ...PAGE }),
  event: readingRequest({
    state: stateFilter('event'),
    thing_id: text('Only Events that belong to this Thing.', trimmedOrBlank(ENTITY_ID_FORM)),
    ...PAGE,
  }),
} as const

export const HISTORY_REQUEST = readingRequest({
  after_seq: {
    type: ['integer', 'string', 'null'],
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    pattern: trimmedOrBlank(WHOLE_FORM),
    description: 'Only entries behind this seq; a cursor takes its place.',
  },
  since: time('Only entries accepted then or later.'),
  model: text(`Only entries of one model: ${MODELS.join(', ')}.`, trimmedOrBlank(anyCase(MODELS))),
  entity_id: text('Only entries of this Message, Event or Thing.', trimmedOrBlank(ENTITY_ID_FORM)),
  ...PAGE,
})

export const PULL_REQUEST = object({ device_key: DEVICE_KEY, limit: limit(LIMIT_MAX) }, [
  'device_key',
])

export const ACK_REQUEST = object(
  {
    device_key: DEVICE_KEY,
    delivery_ids: {
      type: 'array',
      minItems: 1,
      maxItems: DELIVERIES_MAX,
      items: { type: 'string', pattern: trimmed(DELIVERY_ID_FORM) },
      description: `1 to ${DELIVERIES_MAX} different delivery_id values, in any order.`,
    },
  },
  ['device_key', 'delivery_ids'],
)
