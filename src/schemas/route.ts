// The declaration of a route: its request, its answer and its codes, by its path. The check of its
// body (shape.ts), its entry in the OpenAPI document, the tool of an assistant and the types of the
// SDK are made of it.

import type { FaultCode } from '#domain/fault'

import type { ObjectSchema } from './json-schema.ts'
import { memberCodesOf } from './member-codes.ts'

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
