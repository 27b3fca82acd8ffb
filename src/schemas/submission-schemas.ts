// The routes of Messages, Events and Things: the members that stand beside the fields of
// submission-fields.ts, and the answers. A schema names the members that its route reads or
// refuses; every other member is ignored. (Specification: Resources and their fields)

import { EVENT_STATES, THING_STATES } from '#domain/entity'
import { OPERATION_STATUSES } from '#domain/operation'
import { MODELS } from '#domain/submission'
import type { EventAction, ThingAction } from '#domain/submission'

import { CREDENTIALS } from './credentials.ts'
import { exampleOf } from './examples.ts'
import { answersOf, refusedBy, takenBy } from './field-schemas.ts'
import { LIST_ITEMS_MAX } from './fields.ts'
import { ABSENT, forbidden, given, inOneCase, object, oneOf } from './json-schema.ts'
import { requiredText, requiredTime } from './json-schema.ts'
import type { JsonSchema, ObjectSchema, Properties } from './json-schema.ts'
import { BLANK, ENTITY_ID_FORM, NOT_BLANK, listOf, trimmed } from './patterns.ts'
import { OPENING, routes } from './route.ts'
import { ENTITY_ID, EVENT_FIELDS, MESSAGE_FIELDS, THING_FIELDS } from './submission-fields.ts'
import type { Fields } from './submission-fields.ts'

const OP_ID = forbidden('The gateway makes the op_id.')

const accepted = <const Id extends string>(idName: Id) =>
  object(
    {
      op_id: given('string', 'The operation; GET /send_status/{op_id} gives its status.'),
      [idName]: given('string', 'The entity that this submission makes or changes.'),
    } as { readonly [Name in Id | 'op_id']: ReturnType<typeof given<'string'>> },
    ['op_id', idName],
  )

/** The data of the answer to a submission. */
const ACCEPTED = {
  message: accepted('message_id'),
  event: accepted('event_id'),
  thing: accepted('thing_id'),
} as const

const SUBMITTING = [
  ...OPENING,
  'invalid_timestamp',
  'submission_not_accepted',
  'submission_outcome_unknown',
] as const

// ---- Messages

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

const SEND = {
  data: ACCEPTED.message,
  codes: [
    ...SUBMITTING,
    'message_id_forbidden',
    'occurred_at_required_for_thing_scoped_message',
    'op_id_payload_conflict',
    'op_id_scope_conflict',
  ],
} as const

// ---- Events

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
  data: ACCEPTED.event,
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

// ---- Things

const OBSERVED_AT = { observed_at: requiredTime('When this state was observed.') } as const
const STATE = { state: forbidden('The route decides the state.') } as const

const knownThing = <const Action extends ThingAction>(action: Action) =>
  object(
    {
      ...CREDENTIALS,
      thing_id: requiredText(`The Thing: ${ENTITY_ID}`, trimmed(ENTITY_ID_FORM)),
      ...OBSERVED_AT,
      ...takenBy(THING_FIELDS, action),
      op_id: OP_ID,
      ...STATE,
      ...refusedBy(THING_FIELDS, action),
    },
    ['channel_id', 'password', 'thing_id', 'observed_at'],
  )

export const THING_REQUESTS = {
  create: object(
    {
      ...CREDENTIALS,
      ...OBSERVED_AT,
      ...takenBy(THING_FIELDS, 'create'),
      op_id: OP_ID,
      ...STATE,
      thing_id: forbidden('The gateway makes the thing_id.'),
      ...refusedBy(THING_FIELDS, 'create'),
    },
    ['channel_id', 'password', 'observed_at'],
  ),
  update: knownThing('update'),
  archive: knownThing('archive'),
  delete: knownThing('delete'),
} as const satisfies Record<ThingAction, ObjectSchema>

const thing = <const Action extends ThingAction>(action: Action) => ({
  summary: `${VERB[action]} a Thing`,
  request: THING_REQUESTS[action],
  data: ACCEPTED.thing,
  codes: SUBMITTING,
})

const VERB: Readonly<Record<EventAction | ThingAction, string>> = {
  create: 'Create',
  update: 'Update',
  close: 'Close',
  archive: 'Archive',
  delete: 'Delete',
}

/** The record of an operation. */
const OPERATION_DATA = object(
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

export const SUBMISSION_ROUTES = routes('Submissions', {
  '/message': { ...SEND, summary: 'Send a Message', request: MESSAGE_REQUEST },
  'GET /message': {
    ...SEND,
    summary: 'Send a Message by query parameters (legacy)',
    query: MESSAGE_QUERY,
  },
  '/event/create': event('create'),
  '/thing/{thing_id}/event/create': eventOfThing('create'),
  '/event/update': event('update'),
  '/thing/{thing_id}/event/update': eventOfThing('update'),
  '/event/close': event('close'),
  '/thing/{thing_id}/event/close': eventOfThing('close'),
  '/thing/create': thing('create'),
  '/thing/update': thing('update'),
  '/thing/archive': thing('archive'),
  '/thing/delete': thing('delete'),
  'GET /send_status/{op_id}': {
    summary: 'Get the status of an operation',
    data: OPERATION_DATA,
    codes: ['send_status_not_found'],
  },
})

// ---- what reading answers

const REVISION = {
  rev: given('integer', 'Grows by one with each change.'),
  seq: given('integer', 'The feed entry of the last change.'),
  changed_at: given('integer', 'When the gateway accepted the last change, in Unix milliseconds.'),
} as const

export const THING_DATA = object(
  {
    thing_id: given('string', 'The Thing.'),
    state: oneOf(THING_STATES, 'The present state.'),
    observed_at: given('integer', 'The newest observation, in Unix milliseconds.'),
    ...REVISION,
    ...answersOf(THING_FIELDS),
  },
  ['thing_id', 'state', 'observed_at', 'rev', 'seq', 'changed_at', 'attrs'],
)

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
