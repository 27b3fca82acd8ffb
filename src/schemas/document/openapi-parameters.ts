// The parameters of a route in the OpenAPI document: in its path and its query.

import { asDocumented } from './components.ts'
import { exampleOf } from './examples.ts'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { ENTITY_ID_FORM, OPERATION_ID_FORM, exactly } from '#src/schemas/patterns'

interface Described {
  readonly method: string
  readonly path: string
  readonly query?: ObjectSchema
  readonly headers?: ObjectSchema
}

export const parametersOf = ({ method, path, query, headers }: Described): JsonSchema[] => [
  ...pathParameters(path, method === 'OPTIONS' ? {} : PATH_FORMS),
  ...named('query', query),
  ...named('header', headers),
]

/** The answer to a browser's preflight is the same for any text in the path. */
const pathParameters = (path: string, forms: typeof PATH_FORMS): JsonSchema[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: exactly(forms[name] ?? '[^/]+') },
    ...exampleValue(name, {}),
  }))

const PATH_FORMS: Readonly<Record<string, string>> = {
  thing_id: ENTITY_ID_FORM,
  op_id: OPERATION_ID_FORM,
  sequence_id: '[A-Za-z0-9_-]{1,64}',
}

/** The properties of an object as parameters in one place. */
const named = (place: 'query' | 'header', schema: ObjectSchema | undefined): JsonSchema[] =>
  Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...own } = asDocumented(property)
    return {
      name,
      in: place,
      required: schema?.required.includes(name),
      ...(description !== undefined && { description }),
      ...exampleValue(name, property),
      schema: own,
    }
  })

function exampleValue(name: string, schema: JsonSchema): JsonSchema {
  const example = exampleOf(name, schema)
  // Examples are of bodies; a parameter may be the text of such a value.
  const isOther = schema.type === 'string' && typeof example !== 'string'
  return example === undefined || isOther ? {} : { example }
}
