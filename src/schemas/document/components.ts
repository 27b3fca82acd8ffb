// The named schemas of the OpenAPI document, and each schema as readers of the document want it.
//
// Generators of clients and validators read the same text. So it names one type a value, the one
// that every language has, while the gateway takes a number as text, a word in any case, and null
// for what is left out; members that must not be sent are not there; and alternatives are
// conditions (if, else), which mean the same as anyOf but which no generator makes types of.

import { NAME } from '#src/schemas/json-schema'
import type { JsonSchema, Properties } from '#src/schemas/json-schema'
import { BLANK } from '#src/schemas/patterns'

type Known = JsonSchema & { readonly [NAME]?: string }

/** Collects the named schemas of one document. */
export class Components {
  readonly #named = new Map<string, JsonSchema>()
  readonly #shared = new Map<string, { readonly name: string; readonly response: JsonSchema }>()

  /** All of them by their names, with the references between them. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#named)
  }

  /** The responses that operations share, by their names. */
  get responses(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(
      [...this.#shared.values()].map(({ name, response }) => [name, response]),
    )
  }

  /** A reference to this response, whose name has a number behind it where it is not the first. */
  share(name: string, response: JsonSchema): JsonSchema {
    const text = name + JSON.stringify(response)
    const alike = [...this.#shared.keys()].filter((other) => other.startsWith(`${name}{`)).length
    const own = alike === 0 ? name : `${name}_${alike + 1}`
    const known = this.#shared.get(text) ?? { name: own, response }
    this.#shared.set(text, known)
    return { $ref: `#/components/responses/${known.name}` }
  }

  /**
   * A reference to the schema under its own name or else this one. Throws where another schema has
   * the name.
   */
  refer(schema: Known, name: string): JsonSchema {
    const { [NAME]: own = name } = schema
    const written = this.#membersOf(asDocumented(schema), own)
    const known = this.#named.get(own)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(written)) {
      throw new TypeError(`two schemas are named ${own}`)
    }
    this.#named.set(own, written)
    return { $ref: `#/components/schemas/${own}` }
  }

  /** Objects within a schema have names of their own, made of its name where they say none. */
  #membersOf(schema: JsonSchema, name: string): JsonSchema {
    const { properties, items } = schema
    const inner = (one: Known, field: string): JsonSchema =>
      one['properties'] === undefined
        ? this.#membersOf(one, name + pascal(field))
        : this.refer(one, name + pascal(field))
    return {
      ...schema,
      ...(properties !== undefined && {
        properties: mapped(properties as Properties, inner),
      }),
      ...(items !== undefined && { items: inner(items as Known, 'item') }),
    }
  }
}

/** The name of a schema: `FeedEntry` of `feed_entry`. */
export const pascal = (name: string): string =>
  name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

const mapped = (
  schemas: Properties,
  write: (schema: JsonSchema, name: string) => JsonSchema,
): Properties =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, write(schema, name)]))

const FORMATS: Readonly<Record<string, string>> = { integer: 'int64', number: 'double' }

/** The schema of a value as the document has it. */
export function asDocumented(schema: Known): Known {
  const { type, words, pattern, properties, items, additionalProperties, anyOf, ...others } = schema
  const types = documentedTypes(type)
  const [one = ''] = types
  if (types.length > 1) {
    const { minimum: _minimum, maximum: _maximum, ...shared } = others
    return { ...shared, ...casesOf(types.map((name) => ofType(schema, name))) }
  }
  const format = FORMATS[one]
  return {
    ...(one !== '' && { type: one }),
    ...(format !== undefined && { format }),
    ...(words !== undefined && { enum: words }),
    ...(pattern !== undefined && words === undefined && format === undefined && { pattern }),
    ...others,
    ...(properties !== undefined && { properties: sendable(properties as Properties) }),
    ...(items !== undefined && { items: asDocumented(items as Known) }),
    ...(additionalProperties === false && { additionalProperties }),
    ...(isSchema(additionalProperties) && {
      additionalProperties: asDocumented(additionalProperties),
    }),
    ...(Array.isArray(anyOf) && casesOf(anyOf as readonly JsonSchema[])),
  }
}

const isSchema = (value: unknown): value is Known => typeof value === 'object' && value !== null

/** Without null, and without the text beside a number. */
function documentedTypes(type: unknown): readonly string[] {
  const types = (Array.isArray(type) ? type : type === undefined ? [] : [type]) as string[]
  const sent = types.length > 1 ? types.filter((name) => name !== 'null') : types
  const isNumberAlone = sent.length === 2 && sent.includes('string') && sent[0] !== 'string'
  return isNumberAlone ? sent.filter((name) => name !== 'string') : sent
}

/** One type of several, with the keywords that it has. */
function ofType({ pattern, minimum, maximum }: JsonSchema, type: string): JsonSchema {
  if (type === 'string') return { type, pattern }
  return type === 'number' ? { type, minimum, maximum } : { type }
}

const sendable = (properties: Properties): Properties =>
  mapped(
    Object.fromEntries(
      Object.entries(properties).filter(
        ([, { type, pattern }]) => type !== 'null' && pattern !== BLANK,
      ),
    ),
    asDocumented,
  )

/** One of these, as conditions: the first that holds, or else the next. */
const casesOf = (cases: readonly JsonSchema[]): JsonSchema =>
  cases.map(ofCase).reduceRight((rest, one) => ({ if: one, else: rest }))

/** A case keeps the members that it wants absent, which may be blank. */
function ofCase(one: JsonSchema): JsonSchema {
  const { properties } = one
  if (properties === undefined) return asDocumented(one)
  const members = mapped(properties as Properties, (schema) =>
    schema['pattern'] === BLANK ? { type: 'string', pattern: BLANK } : asDocumented(schema),
  )
  return { ...one, properties: members }
}
