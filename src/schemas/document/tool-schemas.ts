// The schemas of tools, made from those of routes: one source says what a submission may hold.
// (Specification: MCP; docs/decisions.md 15)
//
// A route ignores members that it does not know; a tool refuses them, because a model that
// misspells an optional argument would never learn of it.

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'

import { CREDENTIALS } from '#src/schemas/credentials'
import { object } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'

/**
 * The way in which a caller opens channels: by their passwords, or by a grant that a person gave.
 */
export type CallCredential = 'password' | 'grant'

/** No argument: an assistant is no device, and the password depends on the opening. */
const LEFT_OUT: ReadonlySet<string> = new Set(['password', 'device_key'])

/**
 * The closed schema of a tool's arguments, made of a route's body. Left out are members that must
 * not be sent, and the keywords that models get wrong or that their makers refuse: patterns, null
 * beside another type, cases. The reader of the body checks those, and its refusal says more than a
 * schema can.
 */
export function toolInput(body: ObjectSchema, opening: CallCredential): ObjectSchema {
  const { password } = CREDENTIALS
  const hasPassword = opening === 'password' && 'password' in body.properties
  const members = Object.entries(body.properties).filter(
    ([name, { type }]) => type !== 'null' && !LEFT_OUT.has(name),
  )
  const taken = hasPassword ? [...members, ['password', password] as const] : members
  const properties = Object.fromEntries(taken.map(([name, schema]) => [name, plain(schema)]))
  // A key in the place of the password names its channel.
  const required = body.required.filter(
    (name) => name in properties && name !== 'password' && !(hasPassword && name === 'channel_id'),
  )
  return {
    ...object(properties, hasPassword ? [...required, 'password'] : required),
    additionalProperties: false,
  }
}

const KEPT = ['enum', 'maxItems', 'maxLength', 'minimum', 'maximum', 'description'] as const

function plain(schema: JsonSchema): JsonSchema {
  const kept = KEPT.filter((keyword) => keyword in schema)
  const { type, items, additionalProperties } = schema
  return {
    ...(type !== undefined && { type: withoutNull(type) }),
    ...Object.fromEntries(kept.map((keyword) => [keyword, schema[keyword]])),
    ...(isSchema(items) && { items: plain(items) }),
    ...(isSchema(additionalProperties) && { additionalProperties: plain(additionalProperties) }),
  }
}

function withoutNull(type: unknown): unknown {
  if (!Array.isArray(type)) return type
  const types = type.filter((name) => name !== 'null')
  return types.length === 1 ? types[0] : types
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null

/** The refusal of the first argument that a closed schema does not name. */
export function unknownArgument(
  { properties }: ObjectSchema,
  sent: Readonly<Record<string, unknown>>,
): Fault | undefined {
  const name = Object.keys(sent).find((key) => !Object.hasOwn(properties, key))
  if (name === undefined) return undefined
  const known = Object.keys(properties)
  const takes = known.length === 0 ? 'no arguments' : known.join(', ')
  // A text that is no name stays out: it may be a value in the wrong place.
  const what = NAME.test(name) ? `the argument ${name}` : 'an argument'
  return fault('validation_failed', { detail: `${what} is unknown; this tool takes ${takes}` })
}

const NAME = /^[a-z][a-z_]{0,31}$/i
