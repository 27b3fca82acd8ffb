// Events: reading the body of create, update and close, at the plain paths and below a Thing, and
// that of acknowledge.
//
// Order of refusals: shape/1, then the values of channel_id, password, event_id, event_time,
// thing_id with its path, and the rest in the order of the fields.

import { fault, isFault } from '#domain/fault'
import { parseEventId } from '#domain/identity'
import type { ThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { bare } from '#domain/record'
import type { EventAction, EventSubmission } from '#domain/submission'

import { fieldsReaderOf } from './fields/field-reader.ts'
import { request, shape } from './shape.ts'
import { EVENT_FIELDS } from './fields/submission-fields.ts'
import { EVENT_ACKNOWLEDGEMENT, EVENT_REQUESTS, readEventId } from './event-schemas.ts'
import { newId, opIdOf } from './submission.ts'
import type { Making, ReadSubmission } from './submission.ts'
import { ENTITY_ID, ENTITY_ID_RULE, invalid, readCredentials, readParsed } from './values.ts'
import { readRequiredTime } from './values.ts'
import type { SentText } from './values.ts'

const shapes = {
  create: shape(EVENT_REQUESTS.create),
  update: shape(EVENT_REQUESTS.update),
  close: shape(EVENT_REQUESTS.close),
} satisfies Record<EventAction, unknown>

// Other actions refuse ended_at by their shape; started_at has no effect on them.
const fieldReaders = {
  create: fieldsReaderOf(EVENT_FIELDS, 'create'),
  update: fieldsReaderOf(EVENT_FIELDS, 'update'),
  close: fieldsReaderOf(EVENT_FIELDS, 'close'),
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

  const { fault: refusal, fields, patches } = fieldReaders[action](body)
  if (refusal !== undefined) return refusal
  if (thingId !== undefined) fields['thing_id'] = thingId
  const { attrs } = patches

  const submission: EventSubmission = {
    model: 'event',
    action,
    opId: opIdOf(making),
    channelId: credentials.channelId,
    acceptedAt: making.nowMs,
    entityId: knownId ?? newId(parseEventId, making),
    patch: { at, fields, ...(attrs !== undefined && { attrs }) },
  }
  return { submission, password: credentials.password }
}

/**
 * Reads the creation of an Event whose way in names it. Unlike one at /event/create it is an update
 * of an Event that exists. (decisions.md 4)
 */
export function readNamedEvent(
  id: string,
  sent: unknown,
  making: Making,
): Answer<ReadSubmission<EventSubmission>> {
  const read = readEvent('create', sent, making)
  if (isFault(read)) return read
  const entityId = readEventId(id)
  if (isFault(entityId)) return entityId
  return { ...read, submission: { ...read.submission, action: 'update', entityId } }
}

const readAcknowledging = request(EVENT_ACKNOWLEDGEMENT.acknowledge.request)

/** POST /event/acknowledge, by the credentials of the channel or of a subscribed device. */
export function readAcknowledge(
  sent: unknown,
  making: Making,
): Answer<ReadSubmission<EventSubmission>> {
  const read = readAcknowledging(sent)
  if (isFault(read)) return read
  const { reader, id, at, ...acknowledging } = read
  const submission: EventSubmission = {
    model: 'event',
    action: 'acknowledge',
    opId: opIdOf(making),
    channelId: reader.channelId,
    acceptedAt: making.nowMs,
    entityId: id,
    patch: { at, fields: bare() },
    acknowledging,
  }
  return reader.kind === 'password'
    ? { submission, password: reader.password }
    : { submission, password: '', deviceKey: reader.deviceKey }
}

/** The Thing under which the patch files the event; '' takes it out of its Thing. */
function readThingScope(
  sent: SentText,
  path: string | undefined,
): Answer<ThingId | '' | undefined> {
  const own = readParsed('thing_id', sent, ENTITY_ID)
  if (isFault(own)) return own
  if (path === undefined) return own ?? (typeof sent === 'string' ? '' : undefined)
  const scope = readParsed('thing_id', path, ENTITY_ID)
  if (scope === undefined) return invalid('thing_id', ENTITY_ID_RULE)
  if (isFault(scope) || own === undefined || own === scope) return scope
  return fault('thing_id_mismatch', { field: 'thing_id' })
}
