// The JSON schemas of requests that read what the gateway keeps. (decisions.md 8)

import { MODELS } from '#domain/submission'

import { DEVICE_KEY } from './device-schemas.ts'
import { object, requiredText, text, time } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import { CREDENTIALS } from './submission-schemas.ts'

export const LIMIT_MAX = 200
export const LIMIT_FALLBACK = 50
export const DELIVERIES_MAX = 200

const READER = {
  channel_id: CREDENTIALS.channel_id,
  password: text('The Channel password. Exactly one of password and device_key.'),
  device_key: text('The credential of a device that is subscribed to the Channel.'),
} as const

const limit = (fallback: number): JsonSchema => ({
  type: ['integer', 'string', 'null'],
  description: `How many items at most: 1 to ${LIMIT_MAX}; ${fallback} when absent.`,
})
const PAGE = {
  limit: limit(LIMIT_FALLBACK),
  cursor: text('next_cursor of the page before; absent for the first page.'),
} as const

export const STATES = {
  thing: ['active', 'archived', 'deleted'],
  event: ['open', 'closed'],
} as const

const stateFilter = (model: 'thing' | 'event') =>
  text(`Only those that are ${STATES[model].join(', ')}.`)

export const ENTITY_GET_REQUESTS = {
  thing: object({ ...READER, thing_id: requiredText('The Thing.') }, ['channel_id', 'thing_id']),
  event: object({ ...READER, event_id: requiredText('The Event.') }, ['channel_id', 'event_id']),
} as const

export const ENTITY_LIST_REQUESTS = {
  thing: object({ ...READER, state: stateFilter('thing'), ...PAGE }, ['channel_id']),
  event: object(
    {
      ...READER,
      state: stateFilter('event'),
      thing_id: text('Only Events that belong to this Thing.'),
      ...PAGE,
    },
    ['channel_id'],
  ),
} as const

export const HISTORY_REQUEST = object(
  {
    ...READER,
    after_seq: {
      type: ['integer', 'string', 'null'],
      description: 'Only entries behind this seq; a cursor takes its place.',
    },
    since: time('Only entries accepted then or later.'),
    model: text(`Only entries of one model: ${MODELS.join(', ')}.`),
    entity_id: text('Only entries of this Message, Event or Thing.'),
    ...PAGE,
  },
  ['channel_id'],
)

export const PULL_REQUEST = object({ device_key: DEVICE_KEY, limit: limit(LIMIT_MAX) }, [
  'device_key',
])

export const ACK_REQUEST = object(
  {
    device_key: DEVICE_KEY,
    delivery_ids: {
      type: 'array',
      items: { type: 'string' },
      description: `1 to ${DELIVERIES_MAX} different delivery_id values, in any order.`,
    },
  },
  ['device_key', 'delivery_ids'],
)
