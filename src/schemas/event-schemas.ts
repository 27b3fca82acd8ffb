// The routes of Events: their fields (fields/submission-fields.ts), and the members beside them.

import { EVENT_STATES } from '#domain/entity'
import type { EventAction } from '#domain/submission'

import { CREDENTIALS } from './credentials.ts'
import { answersOf, refusedBy, takenBy } from './fields/field-schemas.ts'
import { ENTITY_ID, EVENT_FIELDS } from './fields/submission-fields.ts'
import { ABSENT, forbidden, given, object, oneOf } from './json-schema.ts'
import { requiredText, requiredTime } from './json-schema.ts'
import type { ObjectSchema, Properties } from './json-schema.ts'
import { ENTITY_ID_FORM, trimmed } from './patterns.ts'
import { routes } from './route.ts'
import { OP_ID, REVISION, SUBMITTING, VERB, accepted } from './submission-schemas.ts'

const EVENT_TIME = { event_time: requiredTime('The time of this update.') } as const

const knownEvent = <const Action extends EventAction>(action: Action) =>
  object(
    {
      ...CREDENTIALS,
      event_id: requiredText(`The Event: ${ENTITY_ID}`, trimmed(ENTITY_ID_FORM)),
      ...EVENT_TIME,
      ...takenBy(EVENT_FIELDS, action),
      op_id: OP_ID,
      ...refusedBy(EVENT_FIELDS, action),
    },
    ['channel_id', 'password', 'event_id', 'event_time'],
  )

export const EVENT_REQUESTS = {
  create: object(
    {
      ...CREDENTIALS,
      ...EVENT_TIME,
      ...takenBy(EVENT_FIELDS, 'create'),
      op_id: OP_ID,
      event_id: forbidden('The gateway makes the event_id.'),
      ...refusedBy(EVENT_FIELDS, 'create'),
    },
    ['channel_id', 'password', 'event_time'],
  ),
  update: knownEvent('update'),
  close: knownEvent('close'),
} as const satisfies Record<EventAction, ObjectSchema>

const event = <const Action extends EventAction>(action: Action) => ({
  summary: `${VERB[action]} an Event`,
  request: EVENT_REQUESTS[action],
  data: accepted('event_id'),
  codes: SUBMITTING,
})

/** The request below /thing/{thing_id}, where the path names the Thing. */
function eventOfThing(action: EventAction) {
  const { properties, required }: ObjectSchema = EVENT_REQUESTS[action]
  const repeated = 'Not needed: the path names the Thing. The body may repeat the same id.'
  return {
    ...event(action),
    summary: `${VERB[action]} an Event of a Thing`,
    request: object<Properties, string>(
      { ...properties, thing_id: { ...ABSENT, description: repeated } },
      required,
    ),
    codes: [...SUBMITTING, 'thing_id_mismatch'],
  } as const
}

export const EVENT_ROUTES = routes('Submissions', {
  '/event/create': event('create'),
  '/thing/{thing_id}/event/create': eventOfThing('create'),
  '/event/update': event('update'),
  '/thing/{thing_id}/event/update': eventOfThing('update'),
  '/event/close': event('close'),
  '/thing/{thing_id}/event/close': eventOfThing('close'),
})

/** What reading an Event answers. */
export const EVENT_DATA = object(
  {
    event_id: given('string', 'The Event.'),
    state: oneOf(EVENT_STATES, 'The present state.'),
    event_time: given('integer', 'The newest update, in Unix milliseconds.'),
    ...REVISION,
    ...answersOf(EVENT_FIELDS),
  },
  ['event_id', 'state', 'event_time', 'rev', 'seq', 'changed_at', 'attrs'],
)
