// The routes that read the contents of a Channel. (decisions.md 8)

import { EVENT_STATES, THING_STATES } from '#domain/entity'
import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { ACTIONS, MODELS } from '#domain/submission'
import type { Model } from '#domain/submission'

import { eventToWire, feedEntryToWire, thingToWire } from './answers.ts'
import { readingRequest } from './credentials.ts'
import { EVENT_DATA } from './event-schemas.ts'
import { given, list, named, object } from './json-schema.ts'
import { oneOf, requiredText, text, time } from './json-schema.ts'
import { read, written } from './members.ts'
import { CURSOR_TEXT, PAGE, PAGE_BACK, page, readCursor } from './paging.ts'
import { ENTITY_ID_FORM, trimmed, trimmedOrBlank } from './patterns.ts'
import { QUERY, QUERY_ANSWER } from './queries/query-schemas.ts'
import { KEYED, post, routes } from './route.ts'
import { THING_DATA } from './thing-schemas.ts'
import { ENTITY_ID, invalid, isTimeAbsent } from './values.ts'
import { readParsed, readTime, readWhole } from './values.ts'
import type { SentText, SentTime } from './values.ts'

// ---- which entities and entries

const readId = (sent: SentText, field: string): Answer<string | undefined> =>
  readParsed(field, sent, ENTITY_ID)

const THING_ID = {
  thing_id: read(
    requiredText('The Thing.', trimmed(ENTITY_ID_FORM)),
    (sent, field) => readId(sent, field) ?? fault('thing_id_required', { field }),
    'id',
  ),
} as const
const EVENT_ID = {
  event_id: read(
    requiredText('The Event.', trimmed(ENTITY_ID_FORM)),
    (sent, field) => readId(sent, field) ?? fault('event_id_required', { field }),
    'id',
  ),
} as const

function readOneOf<Name extends string>(
  field: string,
  sent: SentText,
  names: readonly Name[],
): Answer<Name | undefined> {
  const rule = `must be one of ${names.join(', ')}`
  const parse = (name: string) => names.find((known) => known === name.toLowerCase())
  return readParsed(field, sent, { parse, rule })
}

const stateOf = <State extends string>(model: string, states: readonly State[]) => {
  const description = `Only ${model}s in this state: ${states.join(', ')}.`
  const words: readonly string[] = states
  return read({ ...text(description), words }, (sent, field) => readOneOf(field, sent, states))
}

function readSeq(sent: SentTime, field: string): Answer<number | undefined> {
  if (sent === undefined || sent === null || isTimeAbsent(sent)) return undefined
  const seq = readWhole(sent)
  return seq === undefined ? invalid(field, 'must be a whole number from 0') : seq
}

const MODEL_NAMES: readonly string[] = MODELS

function readModels(field: string, sent: SentText): Answer<readonly Model[] | undefined> {
  const model = readOneOf(field, sent, MODELS)
  return model === undefined || isFault(model) ? model : [model]
}

const HISTORY_REQUEST = readingRequest(
  {
    after_seq: read(
      {
        type: ['integer', 'string', 'null'],
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Only entries behind this seq; a cursor takes its place.',
      },
      (sent, field, body: { readonly cursor?: SentText }) =>
        readCursor(body.cursor) ?? readSeq(sent, field),
    ),
    since: read(
      time('Only entries accepted then or later.'),
      (sent, field) => readTime(field, sent),
      'sinceMs',
    ),
    model: read(
      {
        ...text(`Only entries of one model: ${MODELS.join(', ')}.`),
        words: MODEL_NAMES,
      },
      (sent, field) => readModels(field, sent),
      'models',
    ),
    entity_id: read(
      text('Only entries of this Message, Event or Thing.', trimmedOrBlank(ENTITY_ID_FORM)),
      readId,
    ),
    ...PAGE,
    cursor: CURSOR_TEXT,
  },
  [],
)

// ---- answers

const THING = written(THING_DATA, thingToWire)
const EVENT = written(EVENT_DATA, eventToWire)

export const FEED_ENTRY = written(
  named(
    'FeedEntry',
    object(
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
        payload: given(
          'object',
          'The Message, or the changes of the Thing or Event; set_at is the time of late data.',
        ),
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
    ),
  ),
  feedEntryToWire,
)

/** What a Channel holds, by the verbs of the stage that reads it. */
export const STATE = routes('Reading', '', {
  thing: post('/thing/get', 'Get the present state of one thing', {
    operation: 'getThing',
    request: readingRequest(THING_ID, ['thing_id']),
    data: THING,
    codes: [...KEYED, 'entity_not_found'],
  }),
  things: post('/thing/list', 'List the things of a Channel, newest change first', {
    operation: 'listThings',
    request: readingRequest({ state: stateOf('thing', THING_STATES), ...PAGE_BACK }, []),
    data: page(THING),
    codes: [...KEYED, 'invalid_cursor'],
  }),
  query: post('/thing/query', 'Ask which things of a Channel meet a condition', {
    operation: 'queryThings',
    request: readingRequest(QUERY, []),
    data: object({ items: list(THING, 'One page.'), ...QUERY_ANSWER }, ['items']),
    codes: [...KEYED, 'invalid_cursor'],
  }),
  event: post('/event/get', 'Get the present state of one event', {
    operation: 'getEvent',
    request: readingRequest(EVENT_ID, ['event_id']),
    data: EVENT,
    codes: [...KEYED, 'entity_not_found'],
  }),
  events: post('/event/list', 'List the events of a Channel, newest change first', {
    operation: 'listEvents',
    request: readingRequest(
      {
        state: stateOf('event', EVENT_STATES),
        acknowledged: read(
          {
            type: ['boolean', 'null'],
            description: 'Only Events that somebody has acknowledged, or all others.',
          },
          (sent) => sent ?? undefined,
          'isAcknowledged',
        ),
        thing_id: read(
          text('Only Events that belong to this Thing.', trimmedOrBlank(ENTITY_ID_FORM)),
          readId,
        ),
        ...PAGE_BACK,
      },
      [],
    ),
    data: page(EVENT),
    codes: [...KEYED, 'invalid_cursor'],
  }),
  history: post('/channel/history', 'Read the feed of a Channel in seq order', {
    operation: 'listFeedEntries',
    request: HISTORY_REQUEST,
    data: page(FEED_ENTRY),
    codes: [...KEYED, 'invalid_cursor', 'invalid_timestamp'],
  }),
})
