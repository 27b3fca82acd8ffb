// JSON schemas as plain data: the words that the schemas of all routes are written with. The same
// objects are compiled by ajv (shape.ts) and shown in the OpenAPI document (openapi.ts).

export type JsonSchema = { readonly [keyword: string]: unknown }

export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
  readonly [keyword: string]: unknown
}

/** An object of named properties; `required` in the order in which a missing one is reported. */
export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  description?: string,
): ObjectSchema {
  const schema = { type: 'object', properties, required } as const
  return description === undefined ? schema : { ...schema, description }
}

/** A text that must be sent. */
export const requiredText = (description: string): JsonSchema => ({ type: 'string', description })

/** A text that may be left out; null and blank are the same as absent, unless it says otherwise. */
export const text = (description: string): JsonSchema => ({ type: ['string', 'null'], description })

/** A text of a patch: null is the same as absent, and an empty one clears the field. */
export const patchText = (description: string): JsonSchema =>
  text(`${description} An empty text clears it.`)

const TIME_RULE = 'Unix seconds or milliseconds, as a number or a numeric text.'

export const requiredTime = (description: string): JsonSchema => ({
  type: ['number', 'string'],
  description: `${description} ${TIME_RULE}`,
})

export const time = (description: string): JsonSchema => ({
  type: ['number', 'string', 'null'],
  description: `${description} ${TIME_RULE}`,
})

/** A list of texts that may be left out. */
export const texts = (description: string): JsonSchema => ({
  type: ['array', 'null'],
  items: { type: 'string' },
  description,
})

/**
 * An object of caller-chosen keys, each with a value of these JSON types; any value without
 * them.
 */
export function keyed(description: string, types?: readonly string[]): JsonSchema {
  const schema = { type: ['object', 'null'], description }
  return types === undefined ? schema : { ...schema, additionalProperties: { type: types } }
}

/** What an answer holds: every value of it has exactly one type. */
export const given = (
  type: 'string' | 'integer' | 'boolean' | 'object',
  description: string,
): JsonSchema => ({ type, description })

/** One of these texts. */
export const oneOf = (values: readonly string[], description: string): JsonSchema => ({
  type: 'string',
  enum: values,
  description,
})
