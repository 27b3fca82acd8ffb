// Events: reading the body of create, update and close, at the plain paths and below a Thing.
//
// Order of refusals: shape/1, then the values of channel_id, password, event_id, event_time,
// thing_id with its path, and the rest in the order of the fields.

import { fault, isFault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { operationIdFrom, parseEventId, parseThingId } from '#domain/identity'
import type { ThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { EventAction, EventSubmission } from '#domain/submission'

import { FieldReader } from './fields.ts'
import type { SentMetadata, SentRecord, SentTexts } from './fields.ts'
import { shape } from './shape.ts'
import { EVENT_REQUESTS } from './submission-schemas.ts'
import { newId } from './submission.ts'
import type { Making, ReadSubmission } from './submission.ts'
import { ENTITY_ID_RULE, invalid, readCredentials, readParsed, readRequiredTime } from './values.ts'
import type { SentText, SentTime } from './values.ts'

interface EventBody {
  readonly channel_id: string
  readonly password: string
  readonly event_time: number | string
  readonly event_id?: string
  readonly title?: SentText
  readonly description?: SentText
  readonly status?: SentText
  readonly message?: SentText
  readonly severity?: SentText
  readonly started_at?: SentTime
  readonly ended_at?: SentTime
  readonly tags?: SentTexts
  readonly images?: SentTexts
  readonly attrs?: SentRecord
  readonly metadata?: SentMetadata
  readonly ciphertext?: SentText
  readonly thing_id?: SentText
}

const MISSING: Readonly<Record<string, FaultCode>> = {
  channel_id: 'channel_id_required',
  password: 'password_required',
  event_id: 'event_id_required',
  event_time: 'event_time_required',
}

const shapes = {
  create: shape<EventBody>({
    schema: EVENT_REQUESTS.create,
    missing: MISSING,
    forbidden: {
      op_id: 'op_id_not_allowed',
      event_id: 'event_id_forbidden_on_create',
      ended_at: 'ended_at_forbidden',
    },
  }),
  update: shape<EventBody>({
    schema: EVENT_REQUESTS.update,
    missing: MISSING,
    forbidden: { op_id: 'op_id_not_allowed', ended_at: 'ended_at_forbidden' },
  }),
  close: shape<EventBody>({
    schema: EVENT_REQUESTS.close,
    missing: MISSING,
    forbidden: { op_id: 'op_id_not_allowed' },
  }),
} satisfies Record<EventAction, unknown>

/**
 * POST /event/… : `pathThingId` is set below /thing/{thing_id}; the body may repeat it, not
 * differ.
 */
export function readEvent(
  action: EventAction,
  sent: unknown,
  making: Making & { readonly pathThingId?: string },
): Answer<ReadSubmission<EventSubmission>> {
  const body = shapes[action](sent)
  if (isFault(body)) return body

  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const knownId = action === 'create' ? undefined : readEventId(body.event_id)
  if (isFault(knownId)) return knownId
  const at = readRequiredTime('event_time', body.event_time, 'event_time_required')
  if (isFault(at)) return at
  const thingId = readThingScope(body.thing_id, making.pathThingId)
  if (isFault(thingId)) return thingId

  const reader = new FieldReader()
  const attrs = readPatch(reader, body, action)
  if (thingId !== undefined) reader.fields['thing_id'] = thingId
  if (reader.fault !== undefined) return reader.fault

  const submission: EventSubmission = {
    model: 'event',
    action,
    opId: operationIdFrom(making.nowMs, making.newHex32()),
    channelId: credentials.channelId,
    acceptedAt: making.nowMs,
    entityId: knownId ?? newId(parseEventId, making),
    patch: { at, fields: reader.fields, ...(attrs !== undefined && { attrs }) },
  }
  return { submission, password: credentials.password }
}

function readEventId(sent: SentText) {
  const id = readParsed('event_id', sent, { parse: parseEventId, rule: ENTITY_ID_RULE })
  return id ?? fault('event_id_required', { field: 'event_id' })
}

/** The Thing under which the patch files the event; '' takes it out of its Thing. */
function readThingScope(
  sent: SentText,
  path: string | undefined,
): Answer<ThingId | '' | undefined> {
  const form = { parse: parseThingId, rule: ENTITY_ID_RULE }
  const own = readParsed('thing_id', sent, form)
  if (isFault(own)) return own
  if (path === undefined) return own ?? (typeof sent === 'string' ? '' : undefined)
  const scope = readParsed('thing_id', path, form)
  if (scope === undefined) return invalid('thing_id', ENTITY_ID_RULE)
  if (isFault(scope) || own === undefined || own === scope) return scope
  return fault('thing_id_mismatch', { field: 'thing_id' })
}

/** Reads the fields of the event's update; gives its attrs, which are applied key by key. */
function readPatch(reader: FieldReader, body: EventBody, action: EventAction) {
  reader.patchText('title', body.title)
  reader.patchText('description', body.description)
  reader.patchText('status', body.status)
  reader.patchText('message', body.message)
  reader.patchText('severity', body.severity)
  // For other actions started_at has no effect, whatever its value; the shape refused ended_at.
  if (action === 'create') reader.time('started_at', body.started_at)
  if (action === 'close') reader.time('ended_at', body.ended_at)
  reader.texts('tags', body.tags)
  reader.texts('images', body.images)
  const attrs = reader.patch('attrs', body.attrs)
  reader.metadata(body.metadata)
  reader.patchText('ciphertext', body.ciphertext)
  return attrs
}
