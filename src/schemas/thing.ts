// Things: reading the body of create, update, archive and delete.
//
// Order of refusals: shape/1, then the values of channel_id, password, thing_id,
// observed_at, and the rest in the order of the fields.

import { fault, isFault } from '#domain/fault'
import { parseThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { ThingAction, ThingSubmission } from '#domain/submission'

import { fieldsReaderOf } from './fields/field-reader.ts'
import { shape } from './shape.ts'
import { THING_FIELDS } from './fields/submission-fields.ts'
import { THING_REQUESTS } from './thing-schemas.ts'
import { newId, opIdOf } from './submission.ts'
import type { Making, ReadSubmission } from './submission.ts'
import { ENTITY_ID, readCredentials, readParsed, readRequiredTime } from './values.ts'
import type { SentText } from './values.ts'

const shapes = {
  create: shape(THING_REQUESTS.create),
  update: shape(THING_REQUESTS.update),
  archive: shape(THING_REQUESTS.archive),
  delete: shape(THING_REQUESTS.delete),
} satisfies Record<ThingAction, unknown>

// Other actions refuse deleted_at by their shape; created_at has no effect on them.
const fieldReaders = {
  create: fieldsReaderOf(THING_FIELDS, 'create'),
  update: fieldsReaderOf(THING_FIELDS, 'update'),
  archive: fieldsReaderOf(THING_FIELDS, 'archive'),
  delete: fieldsReaderOf(THING_FIELDS, 'delete'),
} satisfies Record<ThingAction, unknown>

/**
 * POST /thing/… : reads an unknown body as a Thing submission; gives the first fault if there is
 * one.
 */
export function readThing(
  action: ThingAction,
  sent: unknown,
  making: Making,
): Answer<ReadSubmission<ThingSubmission>> {
  const body = shapes[action](sent)
  if (isFault(body)) return body

  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const knownId = action === 'create' ? undefined : readThingId(body.thing_id)
  if (isFault(knownId)) return knownId
  const at = readRequiredTime('observed_at', body.observed_at, 'observed_at_required')
  if (isFault(at)) return at

  const { fault: refusal, fields, patches } = fieldReaders[action](body)
  if (refusal !== undefined) return refusal
  const { attrs, external_ids: externalIds } = patches

  const submission: ThingSubmission = {
    model: 'thing',
    action,
    opId: opIdOf(making),
    channelId: credentials.channelId,
    acceptedAt: making.nowMs,
    entityId: knownId ?? newId(parseThingId, making),
    patch: {
      at,
      fields,
      ...(attrs !== undefined && { attrs }),
      ...(externalIds !== undefined && { externalIds }),
    },
  }
  return { submission, password: credentials.password }
}

function readThingId(sent: SentText) {
  const id = readParsed('thing_id', sent, ENTITY_ID)
  return id ?? fault('thing_id_required', { field: 'thing_id' })
}
