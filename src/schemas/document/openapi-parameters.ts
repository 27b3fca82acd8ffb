// The parameters of a route in the OpenAPI document: in its path and its query.

import { exampleOf, examplesOf } from './examples.ts'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { ENTITY_ID_FORM, OPERATION_ID_FORM, exactly } from '#src/schemas/patterns'

interface Described {
  readonly method: string
  readonly path: string
  readonly query?: ObjectSchema
}

export const parametersOf = ({ method, path, query }: Described): JsonSchema[] => [
  ...pathParameters(path, method === 'OPTIONS' ? {} : PATH_FORMS),
  ...queryParameters(query),
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

function queryParameters(query: ObjectSchema | undefined): JsonSchema[] {
  if (query === undefined) return []
  const members = Object.entries(query.properties)
  const asJson = members.filter(([, { type }]) => type === 'object')
  const parameters = asJson.map(([name, schema]) => ({
    ...parameterHead(name, query, schema),
    content: { 'application/json': { schema } },
  }))
  const plain = Object.fromEntries(members.filter(([, { type }]) => type !== 'object'))
  return [...plainParameters({ ...query, properties: plain }), ...parameters]
}

/**
 * A parameter for each member. Where members depend on each other they are one parameter, an
 * object: it is still sent as one parameter a member.
 */
function plainParameters(query: ObjectSchema): JsonSchema[] {
  if ('anyOf' in query) {
    const examples = examplesOf(query)
    return [
      {
        name: 'fields',
        in: 'query',
        required: true,
        style: 'form',
        explode: true,
        schema: query,
        examples,
      },
    ]
  }
  return Object.entries(query.properties).map(([name, { description, ...schema }]) => ({
    ...parameterHead(name, query, { description, ...schema }),
    schema,
  }))
}

const parameterHead = (name: string, query: ObjectSchema, schema: JsonSchema): JsonSchema => ({
  name,
  in: 'query',
  required: query.required.includes(name),
  ...(schema['description'] !== undefined && { description: schema['description'] }),
  ...exampleValue(name, schema),
})

function exampleValue(name: string, schema: JsonSchema): JsonSchema {
  const example = exampleOf(name, schema)
  return example === undefined ? {} : { example }
}
