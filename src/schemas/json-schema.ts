// JSON schemas as plain data: the building blocks of the schemas of all routes. The OpenAPI
// document shows them whole (openapi.ts); shape.ts checks the JSON types in them.

import { ANY_TEXT, BLANK, NOT_BLANK } from './patterns.ts'
import { bytesForm, exactly, trimmed } from './patterns.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }
export type Properties = Readonly<Record<string, JsonSchema>>

/** Its members are typed one by one: schema-types.ts computes the type of a body from them. */
export interface ObjectSchema<Members = Properties, Required extends string = string> {
  readonly type: 'object'
  readonly properties: Members
  readonly required: readonly Required[]
  readonly [keyword: string]: unknown
}

/** An object of named properties; `required` in the order in which a missing one is reported. */
export const object = <
  const Members extends Properties,
  const Required extends keyof Members & string,
>(
  properties: Members,
  required: readonly Required[],
): ObjectSchema<Members, Required> => ({ type: 'object', properties, required })

/** An object of which every property is required, in their order. */
export const whole = <const Members extends Properties>(
  properties: Members,
): ObjectSchema<Members, keyof Members & string> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Other members are refused: one that is written wrong must not go unnoticed. */
export const only = <Schema extends object>(schema: Schema) =>
  ({ ...schema, additionalProperties: false }) as const

/**
 * One of several cases, each of which says more about the members of one object. The SDK types the
 * body as one of them.
 */
export const eitherOf = <Schema extends ObjectSchema, const Cases extends readonly ObjectSchema[]>(
  schema: Schema,
  cases: Cases,
): Schema & { readonly anyOf: Cases } => ({ ...schema, anyOf: cases })

/** The same for rules that go beyond types: the SDK types the body without its cases. */
export const inOneCase = <Schema extends ObjectSchema>(
  schema: Schema,
  cases: readonly ObjectSchema[],
): Schema => ({ ...schema, anyOf: cases })

/** The name of a schema in the OpenAPI document; JSON leaves it out. */
export const NAME: unique symbol = Symbol('name')

/** A schema with the name that its readers know it by. */
export const named = <const Schema extends JsonSchema>(name: string, schema: Schema): Schema => ({
  ...schema,
  [NAME]: name,
})

// The declarations of the SDK name it, so it is exported; nothing has it when the program runs.
export declare const TYPE: unique symbol

/** Says the type of a schema's value in TypeScript. */
export type OfType<Type> = { readonly [TYPE]: Type }

/** A schema of which TypeScript knows more than its keywords say. */
export const typed =
  <Type>() =>
  <const Schema extends JsonSchema>(schema: Schema): Schema & OfType<Type> =>
    schema as never

/** Any JSON value, as the document of routes names it. */
export const anyJson = (description: string) =>
  ({ $ref: '#/components/schemas/JsonValue', description }) as const

/**
 * The bytes of an answer that is neither JSON nor plain text. Generated clients hand them on, and
 * refuse such an answer as an object or as a text.
 */
export const BYTES = { type: 'string', format: 'binary' } as const

/** A text that must be sent, in the form of the pattern; by default any text that is not blank. */
export const requiredText = (description: string, pattern = NOT_BLANK) =>
  ({ type: 'string', pattern, description }) as const

/**
 * A text that may be left out; null and blank count as absent, unless its description says
 * otherwise.
 */
export const text = (description: string, pattern = ANY_TEXT) =>
  ({ type: ['string', 'null'], pattern, description }) as const

/** A text of a patch: null counts as absent, and an empty text clears the field. */
export const patchText = (description: string, pattern = ANY_TEXT) =>
  text(`${description} An empty text clears it.`, pattern)

/** Says of a member that null, unlike elsewhere, is a value. */
export const NULL_REMOVES = 'null removes it'

/** A member whose null removes what was there. */
export const removable = <const Schema extends JsonSchema>(schema: Schema) =>
  ({ ...schema, $comment: NULL_REMOVES }) as const

/** A member that must not be sent; null is the same as absent. */
export const forbidden = (description: string) =>
  ({ type: 'null', description: `Must not be sent. ${description}` }) as const

/** A member that is blank or null where it is there at all. */
export const ABSENT = { type: ['string', 'null'], pattern: BLANK } as const

const TIME_RULE = 'Unix seconds or milliseconds.'
/** Numbers below 10^12 are seconds; both end with the year 9999. */
const TIME_RANGES = {
  minimum: 0,
  exclusiveMaximum: 253_402_300_800_000,
  anyOf: [{ exclusiveMaximum: 253_402_300_800 }, { minimum: 1_000_000_000_000 }],
} as const

export const requiredTime = (description: string) =>
  ({
    type: ['number', 'string'],
    ...TIME_RANGES,
    description: `${description} ${TIME_RULE}`,
  }) as const

export const time = (description: string) =>
  ({
    type: ['number', 'string', 'null'],
    ...TIME_RANGES,
    description: `${description} ${TIME_RULE}`,
  }) as const

/** A list of texts that may be left out. */
export const texts = (description: string) =>
  ({
    type: ['array', 'null'],
    items: { type: 'string', pattern: ANY_TEXT },
    description,
  }) as const

/** A list of so many texts, each of 1 to `bytesMax` bytes. */
export const limitedTexts = (
  description: string,
  { itemsMax, bytesMax }: { readonly itemsMax: number; readonly bytesMax: number },
) =>
  ({
    type: ['array', 'null'],
    maxItems: itemsMax,
    items: { type: 'string', pattern: trimmed(bytesForm(1, bytesMax)) },
    description,
  }) as const

/** An object of caller-chosen keys, each with any JSON value. */
export const keyed = (description: string) =>
  ({
    type: ['object', 'null'],
    propertyNames: { pattern: ANY_TEXT },
    additionalProperties: { $ref: '#/components/schemas/JsonValue' },
    description,
  }) as const

/** The bounds within which a double carries every whole number. */
const EXACT = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const

/** An object of caller-chosen keys, each with a text, a number or a boolean, within bytes. */
export const scalars = (
  description: string,
  { keyBytesMax, textBytesMax }: { readonly keyBytesMax: number; readonly textBytesMax: number },
) =>
  ({
    type: ['object', 'null'],
    propertyNames: { pattern: exactly(bytesForm(1, keyBytesMax)) },
    additionalProperties: {
      type: ['string', 'number', 'boolean'],
      ...EXACT,
      pattern: trimmed(bytesForm(1, textBytesMax)),
    },
    description,
  }) as const

/** Any JSON value that is kept as it is: the component JsonValue, which refers to itself. */
export const ANY_JSON: JsonSchema = {
  description: 'Any JSON value, at most 32 levels deep. Numbers that a double carries exactly.',
  anyOf: [
    { type: 'null' },
    { type: 'boolean' },
    { type: 'number', ...EXACT },
    { type: 'string', pattern: ANY_TEXT },
    { type: 'array', items: { $ref: '#/components/schemas/JsonValue' } },
    {
      type: 'object',
      propertyNames: { pattern: ANY_TEXT },
      additionalProperties: { $ref: '#/components/schemas/JsonValue' },
    },
  ],
}

/**
 * The JSON types alone: of the object, of its members, and of what stands in those. Members that
 * may have any type are left out.
 */
export function typesOnly({ properties, required }: ObjectSchema): ObjectSchema {
  const known = Object.entries(properties).filter(([, schema]) => 'type' in schema)
  return object(
    Object.fromEntries(known.map(([name, schema]) => [name, typesOfMember(schema)])),
    required,
  )
}

const typesOfMember = ({ type, items, additionalProperties }: JsonSchema): JsonSchema => ({
  type,
  ...(isTyped(items) && { items: { type: items.type } }),
  ...(isTyped(additionalProperties) && {
    additionalProperties: { type: additionalProperties.type },
  }),
})

const isTyped = (schema: unknown): schema is { readonly type: unknown } =>
  typeof schema === 'object' && schema !== null && 'type' in schema

/** A member of an answer: every value in answers has exactly one type. */
export const given = <const Type extends 'string' | 'integer' | 'boolean' | 'object'>(
  type: Type,
  description: string,
) => ({ type, description }) as const

/** One of these words, which readers take in any case. */
export const word = <const Word extends string>(words: readonly Word[], description: string) =>
  ({ ...requiredText(description), words }) as const

/** One of these texts. */
export const oneOf = <const Word extends string>(values: readonly Word[], description: string) =>
  ({ type: 'string', enum: values, description }) as const

/** A list in an answer. */
export const list = <const Items extends JsonSchema>(items: Items, description: string) =>
  ({ type: 'array', items, description }) as const
