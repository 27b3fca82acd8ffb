// The declaration of a route: its request, its answer and its codes, by its path. The check of its
// body (shape.ts), its entry in the OpenAPI document, the tool of an assistant and the types of the
// SDK are made of it.

import type { FaultCode } from '#domain/fault'

import type { ObjectSchema } from './json-schema.ts'

export interface Declaration {
  readonly summary: string
  /** The body. */
  readonly request?: ObjectSchema
  /** The query parameters, as the properties of an object. */
  readonly query?: ObjectSchema
  /** The member `data` of the success envelope. */
  readonly data: ObjectSchema
  /** The codes beside those of missing and forbidden members and of the checks of every route. */
  readonly codes?: readonly FaultCode[]
}

export interface Declared extends Declaration {
  readonly tag: string
  readonly codes: readonly FaultCode[]
}

/** Declares the routes of a tag; the name of a route for GET has the method before its path. */
export const routes = <const Named extends Readonly<Record<string, Declaration>>>(
  tag: string,
  named: Named,
) =>
  Object.fromEntries(
    Object.entries(named).map(([path, { codes = [], ...facts }]) => {
      const { request = facts.query } = facts
      const ofMembers = request === undefined ? [] : memberCodesOf(request)
      return [path, { ...facts, tag, codes: [...codes, ...ofMembers] }]
    }),
  ) as { readonly [Path in keyof Named]: Named[Path] & Pick<Declared, 'tag' | 'codes'> }

/** The codes of a route that opens a channel by its password. */
export const OPENING = [
  'channel_id_required',
  'invalid_channel_id',
  'password_required',
  'invalid_password',
  'channel_not_found',
] as const satisfies readonly FaultCode[]

/** The same where a key may stand in the place of the password. */
export const KEYED = [...OPENING, 'key_expired', 'key_scope'] as const

// ---- the code of a missing or a forbidden member, which is the same on every route

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
