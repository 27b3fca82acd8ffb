// Things: reading the body of create, update, archive and delete.
//
// Order of refusals: shape/1, then the values of channel_id, password, thing_id,
// observed_at, and the rest in the order of the fields.

import { fault, isFault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { operationIdFrom, parseThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Patch, ThingAction, ThingSubmission } from '#domain/submission'

import { FieldReader } from './fields.ts'
import type { SentMetadata, SentRecord, SentTexts } from './fields.ts'
import { shape } from './shape.ts'
import { THING_REQUESTS } from './submission-schemas.ts'
import { newId } from './submission.ts'
import type { Making, ReadSubmission } from './submission.ts'
import { ENTITY_ID_RULE, readCredentials, readParsed, readRequiredTime } from './values.ts'
import type { SentText, SentTime } from './values.ts'

interface ThingBody {
  readonly channel_id: string
  readonly password: string
  readonly observed_at: number | string
  readonly thing_id?: string
  readonly title?: SentText
  readonly description?: SentText
  readonly tags?: SentTexts
  readonly images?: SentTexts
  readonly primary_image?: SentText
  readonly location_type?: SentText
  readonly location_value?: SentText
  readonly created_at?: SentTime
  readonly deleted_at?: SentTime
  readonly external_ids?: SentRecord
  readonly attrs?: SentRecord
  readonly metadata?: SentMetadata
  readonly ciphertext?: SentText
}

const MISSING: Readonly<Record<string, FaultCode>> = {
  channel_id: 'channel_id_required',
  password: 'password_required',
  thing_id: 'thing_id_required',
  observed_at: 'observed_at_required',
}
const ALWAYS_FORBIDDEN = { op_id: 'op_id_not_allowed', state: 'state_forbidden' } as const
const FORBIDDEN_ON_KNOWN = { ...ALWAYS_FORBIDDEN, deleted_at: 'deleted_at_forbidden' } as const

const shapes = {
  create: shape<ThingBody>({
    schema: THING_REQUESTS.create,
    missing: MISSING,
    forbidden: {
      ...ALWAYS_FORBIDDEN,
      thing_id: 'thing_id_forbidden_on_create',
      deleted_at: 'deleted_at_forbidden',
    },
  }),
  update: shape<ThingBody>({
    schema: THING_REQUESTS.update,
    missing: MISSING,
    forbidden: FORBIDDEN_ON_KNOWN,
  }),
  archive: shape<ThingBody>({
    schema: THING_REQUESTS.archive,
    missing: MISSING,
    forbidden: FORBIDDEN_ON_KNOWN,
  }),
  delete: shape<ThingBody>({
    schema: THING_REQUESTS.delete,
    missing: MISSING,
    forbidden: ALWAYS_FORBIDDEN,
  }),
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

  const reader = new FieldReader()
  const patch = readPatch(reader, body, { action, at })
  if (reader.fault !== undefined) return reader.fault

  const submission: ThingSubmission = {
    model: 'thing',
    action,
    opId: operationIdFrom(making.nowMs, making.newHex32()),
    channelId: credentials.channelId,
    acceptedAt: making.nowMs,
    entityId: knownId ?? newId(parseThingId, making),
    patch,
  }
  return { submission, password: credentials.password }
}

function readThingId(sent: SentText) {
  const id = readParsed('thing_id', sent, { parse: parseThingId, rule: ENTITY_ID_RULE })
  return id ?? fault('thing_id_required', { field: 'thing_id' })
}

function readPatch(
  reader: FieldReader,
  body: ThingBody,
  { action, at }: { readonly action: ThingAction; readonly at: number },
): Patch {
  reader.patchText('title', body.title)
  reader.patchText('description', body.description)
  reader.texts('tags', body.tags)
  reader.texts('images', body.images)
  reader.patchText('primary_image', body.primary_image)
  reader.patchText('location_type', body.location_type)
  reader.patchText('location_value', body.location_value)
  // For other actions created_at has no effect, whatever its value; the shape refused deleted_at.
  if (action === 'create') reader.time('created_at', body.created_at)
  if (action === 'delete') reader.time('deleted_at', body.deleted_at)
  const externalIds = reader.patch('external_ids', body.external_ids)
  const attrs = reader.patch('attrs', body.attrs)
  reader.metadata(body.metadata)
  reader.patchText('ciphertext', body.ciphertext)
  return {
    at,
    fields: reader.fields,
    ...(attrs !== undefined && { attrs }),
    ...(externalIds !== undefined && { externalIds }),
  }
}
