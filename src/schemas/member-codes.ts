// The code that answers a request without a required member, or with a forbidden one. A member has
// one code on every route.

import type { FaultCode } from '#domain/fault'

import type { ObjectSchema } from './json-schema.ts'

const MISSING: Readonly<Record<string, FaultCode>> = {
  channel_id: 'channel_id_required',
  password: 'password_required',
  new_password: 'password_required',
  channel_name: 'invalid_channel_name',
  title: 'title_required',
  thing_id: 'thing_id_required',
  observed_at: 'observed_at_required',
  event_id: 'event_id_required',
  event_time: 'event_time_required',
  platform: 'invalid_platform',
  channel_type: 'invalid_channel_type',
  provider_token: 'provider_token_required',
  delivery_ids: 'delivery_ack_batch_invalid',
}

const FORBIDDEN: Readonly<Record<string, FaultCode>> = {
  op_id: 'op_id_not_allowed',
  state: 'state_forbidden',
  message_id: 'message_id_forbidden',
  event_id: 'event_id_forbidden_on_create',
  thing_id: 'thing_id_forbidden_on_create',
  ended_at: 'ended_at_forbidden',
  deleted_at: 'deleted_at_forbidden',
}

/** The code for a required member that is missing or null. */
export const missingCodeOf = (member: string): FaultCode => MISSING[member] ?? 'validation_failed'

/** The members that must not be sent, with their codes, in the order of the schema. */
export const forbiddenIn = ({
  properties,
}: ObjectSchema): readonly (readonly [string, FaultCode])[] =>
  Object.entries(properties)
    .filter(([, { type }]) => type === 'null')
    .map(([name]) => [name, FORBIDDEN[name] ?? 'validation_failed'])

/** The codes for the missing and the forbidden members of a request. */
export const memberCodesOf = (schema: ObjectSchema): readonly FaultCode[] => [
  ...schema.required.map(missingCodeOf),
  ...forbiddenIn(schema).map(([, code]) => code),
]
