// The declaration of a route: its path, its request with its readers, its answer with its writers,
// and its codes. The row of the table, the reader and the check of its body (shape.ts), its entry
// in the OpenAPI document, the tool of an assistant and the types of the SDK are made of it.

import type { FaultCode } from '#domain/fault'

import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import { writerOf } from './members.ts'
import type { DataOf, Wire } from './members.ts'

export interface Declaration {
  readonly path: string
  /** Absent for POST. */
  readonly method?: 'GET'
  /** The operationId where it is not made of verb and noun. */
  readonly operation?: string
  readonly summary: string
  /** The body. */
  readonly request?: ObjectSchema
  /** The most bytes of the body, where it is not the limit of every body. */
  readonly bytesMax?: number
  /** Set where items of the body have passwords, which count in the budget. */
  readonly hasPasswords?: true
  /** Set where only the operator may call: the gateway has a token, and the caller proves it. */
  readonly isForOperator?: true
  /** Set where it makes new devices, which count in a budget of their own. */
  readonly makesDevices?: true
  /** The query parameters, as the properties of an object. */
  readonly query?: ObjectSchema
  /** The member `data` of the success envelope, or one line of a stream. */
  readonly data: ObjectSchema
  /** Set where the answer is a stream of texts outside the envelope. */
  readonly raw?: { readonly mediaType: string; readonly schema: JsonSchema }
  /** The codes beside those of missing and forbidden members and of the checks of every route. */
  readonly codes?: readonly FaultCode[]
}

/** What a declaration has besides, once its resource is known. */
export interface OfResource<Data> {
  readonly tag: string
  readonly operation: string
  readonly codes: readonly FaultCode[]
  /** Writes the data of the answer. */
  readonly write: (data: DataOf<Data>) => Wire
}

export type Route = Declaration & OfResource<never>

type Facts = Omit<Declaration, 'path' | 'method' | 'summary'>

/** A route for POST; `path` has `{name}` for each named part. */
export const post = <const Path extends string, const Own extends Facts>(
  path: Path,
  summary: string,
  facts: Own,
) => ({ path, summary, ...facts })

/** A route for POST that only the operator of the gateway may call. */
export const operatorPost = <const Path extends string, const Own extends Facts>(
  path: Path,
  summary: string,
  facts: Own,
) => ({ ...post(path, summary, facts), isForOperator: true }) as const

/** A route for GET. */
export const get = <const Path extends string, const Own extends Facts>(
  path: Path,
  summary: string,
  facts: Own,
) => ({ ...post(path, summary, facts), method: 'GET' }) as const

/** Declares the routes of a resource by their verbs: `create` of a `Channel` is `createChannel`. */
export const routes = <const Named extends Readonly<Record<string, Declaration>>>(
  tag: string,
  noun: string,
  named: Named,
) =>
  Object.fromEntries(
    Object.entries(named).map(([verb, { codes = [], ...facts }]) => {
      const { operation = verb + noun, request = facts.query, data } = facts
      const ofMembers = request === undefined ? [] : memberCodesOf(request)
      const whole = { ...facts, tag, operation, codes: [...codes, ...ofMembers] }
      return [verb, { ...whole, write: writerOf(data) }]
    }),
  ) as never as { readonly [Verb in keyof Named]: Named[Verb] & OfResource<Named[Verb]['data']> }

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
