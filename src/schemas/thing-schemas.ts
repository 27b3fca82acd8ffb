// The routes of Things: their fields (fields/submission-fields.ts), and the members beside them.

import { THING_STATES } from '#domain/entity'
import type { ThingAction } from '#domain/submission'

import { CREDENTIALS } from './credentials.ts'
import { answersOf, refusedBy, takenBy } from './fields/field-schemas.ts'
import { ENTITY_ID, THING_FIELDS } from './fields/submission-fields.ts'
import {
  forbidden,
  given,
  named,
  object,
  oneOf,
  requiredText,
  requiredTime,
} from './json-schema.ts'
import type { ObjectSchema } from './json-schema.ts'
import { ENTITY_ID_FORM, trimmed } from './patterns.ts'
import { routes } from './route.ts'
import { OP_ID, REVISION, SUBMITTING, VERB, accepted } from './submission-schemas.ts'

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
  path: `/thing/${action}` as const,
  summary: `${VERB[action]} a Thing`,
  request: THING_REQUESTS[action],
  data: accepted('Thing'),
  codes: SUBMITTING,
})

/** The submissions to Things. */
export const THING_CHANGE = routes('Submissions', 'Thing', {
  create: thing('create'),
  update: thing('update'),
  archive: thing('archive'),
  delete: thing('delete'),
})

/** What reading a Thing answers. */
export const THING_DATA = named(
  'Thing',
  object(
    {
      thing_id: given('string', 'The Thing.'),
      state: oneOf(THING_STATES, 'The present state.'),
      observed_at: given('integer', 'The newest observation, in Unix milliseconds.'),
      attr_times: {
        ...given('object', 'Times of attrs by key; one that is not listed has observed_at.'),
        additionalProperties: { type: 'integer' },
      },
      ...REVISION,
      ...answersOf(THING_FIELDS),
    },
    ['thing_id', 'state', 'observed_at', 'rev', 'seq', 'changed_at', 'attrs'],
  ),
)
