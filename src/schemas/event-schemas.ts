// The routes of Events: their fields (fields/submission-fields.ts), and the members beside them.

import { EVENT_STATES } from '#domain/entity'
import { fault } from '#domain/fault'
import { parseEventId } from '#domain/identity'
import type { EventId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { EventAction } from '#domain/submission'

import { CREDENTIALS, readingRequest } from './credentials.ts'
import { answersOf, refusedBy, takenBy } from './fields/field-schemas.ts'
import { ENTITY_ID, EVENT_FIELDS } from './fields/submission-fields.ts'
import { ABSENT, forbidden, given, named, object, oneOf } from './json-schema.ts'
import { requiredText, requiredTime, text } from './json-schema.ts'
import type { ObjectSchema, Properties } from './json-schema.ts'
import {
  SNOOZE_FORM,
  ENTITY_ID_FORM,
  atMost,
  bytesForm,
  trimmed,
  trimmedOrBlank,
} from './patterns.ts'
import { read } from './members.ts'
import { post, routes } from './route.ts'
import { OP_ID, REVISION, SUBMITTING, VERB, accepted } from './submission-schemas.ts'
import { SNOOZE_RULE, snoozeMs } from '#src/rules/escalation'
import { ENTITY_ID_RULE, invalid, isBlank, isLonger } from './values.ts'
import { readParsed, readRequiredTime, readText } from './values.ts'
import type { SentText } from './values.ts'

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

const BY_CHARACTERS_MAX = 64
const NOTE_BYTES_MAX = 512
const SHORT_RULES = {
  by: `must be 1 to ${BY_CHARACTERS_MAX} characters`,
  note: `must be at most ${NOTE_BYTES_MAX} bytes`,
}

function readShort(name: 'by' | 'note', sent: SentText, fits: (text: string) => boolean) {
  const short = readText(name, sent)
  return typeof short !== 'string' || fits(short) ? short : invalid(name, SHORT_RULES[name])
}

function readSnooze(sent: SentText): Answer<number | undefined> {
  if (sent === undefined || isBlank(sent)) return undefined
  return snoozeMs(sent?.trim()) ?? invalid('snooze', SNOOZE_RULE)
}

export function readEventId(sent: SentText): Answer<EventId> {
  const id = readParsed('event_id', sent, { parse: parseEventId, rule: ENTITY_ID_RULE })
  return id ?? fault('event_id_required', { field: 'event_id' })
}

const ACKNOWLEDGING = readingRequest(
  {
    event_id: read(
      requiredText(`The Event: ${ENTITY_ID}`, trimmed(ENTITY_ID_FORM)),
      (sent) => readEventId(sent),
      'id',
    ),
    event_time: read(
      EVENT_TIME.event_time,
      (sent) => readRequiredTime('event_time', sent, 'event_time_required'),
      'at',
    ),
    by: read(
      {
        ...text('Who has it: 1 to 64 characters; the label of the key when absent.', atMost(64)),
        examples: ['anna'] as readonly string[],
      },
      (sent) => readShort('by', sent, (by) => Array.from(by).length <= BY_CHARACTERS_MAX),
    ),
    note: read(
      {
        ...text('What there is to say: up to 512 bytes.', trimmedOrBlank(bytesForm(1, 512))),
        examples: ['On my way'] as readonly string[],
      },
      (sent) => readShort('note', sent, (note) => !isLonger(note, NOTE_BYTES_MAX)),
    ),
    snooze: read(
      {
        ...text('How long it holds: 1m to 7d; for good when absent.', trimmedOrBlank(SNOOZE_FORM)),
        examples: ['2h'] as readonly string[],
      },
      (sent) => readSnooze(sent),
      'snoozeMs',
    ),
    op_id: OP_ID,
  },
  ['event_id', 'event_time'],
)

const event = <const Action extends EventAction>(action: Action) => ({
  path: `/event/${action}` as const,
  summary: `${VERB[action]} an Event`,
  request: EVENT_REQUESTS[action],
  data: accepted('Event'),
  codes: SUBMITTING,
})

/** The request below /thing/{thing_id}, where the path names the Thing. */
function eventOfThing<const Action extends EventAction>(action: Action) {
  const { properties, required }: ObjectSchema = EVENT_REQUESTS[action]
  const repeated = 'Not needed: the path names the Thing. The body may repeat the same id.'
  return {
    ...event(action),
    path: `/thing/{thing_id}/event/${action}`,
    summary: `${VERB[action]} an Event of a Thing`,
    request: object<Properties, string>(
      { ...properties, thing_id: { ...ABSENT, description: repeated } },
      required,
    ),
    codes: [...SUBMITTING, 'thing_id_mismatch'],
  } as const
}

/** The submissions to Events. */
export const EVENT_CHANGE = routes('Submissions', 'Event', {
  create: event('create'),
  update: event('update'),
  close: event('close'),
})

export const EVENT_OF_THING_CHANGE = routes('Submissions', 'EventOfThing', {
  create: eventOfThing('create'),
  update: eventOfThing('update'),
  close: eventOfThing('close'),
})

export const EVENT_ACKNOWLEDGEMENT = routes('Submissions', 'Event', {
  acknowledge: post('/event/acknowledge', 'Acknowledge an Event', {
    request: ACKNOWLEDGING,
    data: accepted('Event'),
    codes: SUBMITTING,
  }),
})

/** What reading an Event answers. */
export const EVENT_DATA = named(
  'Event',
  object(
    {
      event_id: given('string', 'The Event.'),
      state: oneOf(EVENT_STATES, 'The present state.'),
      event_time: given('integer', 'The newest update, in Unix milliseconds.'),
      ...REVISION,
      acknowledged_at: given('integer', 'When somebody said to have it, in Unix milliseconds.'),
      acknowledged_by: given('string', 'Who that is.'),
      snoozed_until: given('integer', 'When that ends by itself, in Unix milliseconds.'),
      ...answersOf(EVENT_FIELDS),
    },
    ['event_id', 'state', 'event_time', 'rev', 'seq', 'changed_at', 'attrs'],
  ),
)
