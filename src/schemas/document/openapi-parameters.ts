// The parameters of a route in the OpenAPI document: in its path and its query.

import type { FaultCode } from '#domain/fault'
import { exampleOf, examplesOf } from './examples.ts'
import { object } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { ENTITY_ID_FORM, OPERATION_ID_FORM, exactly, trimmed } from '#src/schemas/patterns'
import { KEY_FORM } from '#domain/identity'

interface Described {
  readonly method: string
  readonly path: string
  readonly query?: ObjectSchema
  readonly codes: readonly FaultCode[]
}

export const parametersOf = ({ method, path, query, codes }: Described): JsonSchema[] => [
  ...pathParameters(path, method === 'OPTIONS' ? {} : PATH_FORMS),
  ...queryParameters(query, codes.includes('key_scope')),
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

function queryParameters(query: ObjectSchema | undefined, takesKey: boolean): JsonSchema[] {
  if (query === undefined) return []
  const members = Object.entries(query.properties)
  const asJson = members.filter(([, { type }]) => type === 'object')
  const parameters = asJson.map(([name, schema]) => ({
    ...parameterHead(name, query, schema),
    content: { 'application/json': { schema } },
  }))
  const plain = Object.fromEntries(members.filter(([, { type }]) => type !== 'object'))
  return [...plainParameters({ ...query, properties: plain }, takesKey), ...parameters]
}

/**
 * A parameter for each member. Where members depend on each other they are one parameter, an
 * object: it is still sent as one parameter a member.
 */
function plainParameters(query: ObjectSchema, takesKey: boolean): JsonSchema[] {
  if ('anyOf' in query) {
    const examples = examplesOf(query)
    return [
      {
        name: 'fields',
        in: 'query',
        required: true,
        style: 'form',
        explode: true,
        schema: takesKey ? keyed(query) : query,
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

const NAMED_OR_KEYED: readonly JsonSchema[] = [
  {
    anyOf: [
      object({ channel_id: { type: 'string' } }, ['channel_id']),
      object({ password: { type: 'string', pattern: trimmed(KEY_FORM) } }, ['password']),
    ],
  },
]

/** The schema of the same request for the document: channel_id may be left out with a key. */
export function keyed(schema: ObjectSchema): ObjectSchema {
  if (!schema.required.includes('channel_id')) return schema
  const required = schema.required.filter((name) => name !== 'channel_id')
  return { ...schema, required, allOf: NAMED_OR_KEYED }
}
