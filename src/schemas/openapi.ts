// The OpenAPI 3.1 document of the gateway, made from one row a route. Its schemas are the objects
// that check the JSON types of requests; a test compares their other rules with the readers.

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'

import { exampleOf, examplesOf } from './examples.ts'
import { ANY_JSON, given, object, oneOf } from './json-schema.ts'
import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import { ENTITY_ID_FORM, OPERATION_ID_FORM, exactly } from './patterns.ts'

/** One route as the document describes it. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
  /** With `{name}` for each place in the path. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  /** The body. */
  readonly request?: JsonSchema
  /** The media types of the body, JSON without this. An empty list takes any. */
  readonly mediaTypes?: readonly string[]
  /** The query parameters, as the properties of an object. */
  readonly query?: ObjectSchema
  /** The member `data` of the success envelope. */
  readonly data?: JsonSchema
  /** Set when success is a connection that goes on in this protocol, with status 101. */
  readonly upgradesTo?: string
  /** Set when the answer with status 200 stands outside the envelope. */
  readonly raw?: { readonly mediaType: string; readonly schema: JsonSchema }
  /** Every code that this route may answer. */
  readonly codes: readonly FaultCode[]
}

export interface OpenApiOptions {
  readonly routes: readonly RouteDescription[]
  readonly version: string
  readonly statusOf: Readonly<Record<FaultCode, number>>
}

/** The document as plain data. Rows of one path and other methods stand together. */
export function openApiDocument({ routes, version, statusOf }: OpenApiOptions): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of routes) {
    const methods = (paths[route.path] ??= {})
    methods[route.method.toLowerCase()] = operation(route, statusOf)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heliograph',
      version,
      description:
        'Takes Messages, Events and Things for Channels and carries them to subscribed devices.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    // The token is needed only where the gateway has one; then every route asks for it.
    security: [{ gatewayToken: [] }, {}],
    paths,
    components: COMPONENTS,
  }
}

function operation(route: RouteDescription, statusOf: OpenApiOptions['statusOf']): JsonSchema {
  const parameters = [...pathParameters(route.path), ...queryParameters(route.query)]
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    tags: [route.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(route.request && {
      requestBody: { required: true, content: bodyOf(route.request, route.mediaTypes) },
    }),
    responses: { ...success(route), ...refusals(route.codes, statusOf) },
  }
}

function bodyOf(schema: JsonSchema, mediaTypes = JSON_ONLY): JsonSchema {
  const content = { schema, ...(isObjectSchema(schema) && { examples: examplesOf(schema) }) }
  const types = mediaTypes.length === 0 ? ['*/*'] : mediaTypes
  return Object.fromEntries(types.map((mediaType) => [mediaType, content]))
}

const isObjectSchema = (schema: JsonSchema): schema is ObjectSchema =>
  schema['type'] === 'object' && 'properties' in schema && 'required' in schema

const JSON_ONLY: readonly string[] = ['application/json']

/** POST /thing/{thing_id}/event/create → post_thing_thing_id_event_create. */
const operationIdOf = ({ method, path }: RouteDescription): string =>
  `${method.toLowerCase()}_${path
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .join('_')}`

const pathParameters = (path: string): JsonSchema[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: exactly(PATH_FORMS[name] ?? '[^/]+') },
    ...exampleValue(name, {}),
  }))

const PATH_FORMS: Readonly<Record<string, string>> = {
  thing_id: ENTITY_ID_FORM,
  op_id: OPERATION_ID_FORM,
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

const HEADERS = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }

function success(route: RouteDescription): JsonSchema {
  return route.upgradesTo === undefined
    ? { 200: { description: 'Done.', headers: HEADERS, content: answerOf(route) } }
    : { 101: { description: `The connection goes on as ${route.upgradesTo}.` } }
}

function answerOf({ data, raw }: RouteDescription): JsonSchema {
  if (raw !== undefined) return contentOf(raw.schema, raw.mediaType)
  const required = data === undefined ? ['success'] : ['success', 'data']
  return contentOf(
    object({ success: { const: true }, ...(data !== undefined && { data }) }, required),
  )
}

const contentOf = (schema: JsonSchema, mediaType = 'application/json'): JsonSchema => ({
  [mediaType]: { schema },
})

/** One response for each status, which lists the codes behind it. */
function refusals(
  codes: readonly FaultCode[],
  statusOf: OpenApiOptions['statusOf'],
): Record<string, JsonSchema> {
  const byStatus = Map.groupBy(new Set(codes), (code) => statusOf[code])
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [String(status), refusal(status, group)]),
  )
}

function refusal(status: number, codes: readonly FaultCode[]): JsonSchema {
  const lines = codes.map((code) => `- \`${code}\`: ${FAULTS[code]}`)
  return {
    description: lines.join('\n'),
    headers: { ...HEADERS, ...STATUS_HEADERS[status] },
    content: contentOf({ $ref: '#/components/schemas/Failure' }),
  }
}

const RETRY_AFTER = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }

const STATUS_HEADERS: Readonly<Record<number, JsonSchema>> = {
  405: { allow: { description: 'The methods that the route takes.', schema: { type: 'string' } } },
  429: {
    ...RETRY_AFTER,
    'ratelimit-limit': { $ref: '#/components/headers/RateLimit' },
    'ratelimit-remaining': { $ref: '#/components/headers/RateLimit' },
    'ratelimit-reset': { $ref: '#/components/headers/RateLimit' },
  },
  503: RETRY_AFTER,
}

const CATEGORIES = [
  'validation',
  'auth',
  'not_found',
  'conflict',
  'rate_limit',
  'too_busy',
  'feature_disabled',
  'internal',
]

const PROBLEM = object(
  {
    code: given('string', 'The same as error_code.'),
    category: oneOf(CATEGORIES, 'The kind of problem.'),
    status: given('integer', 'The HTTP status.'),
    title: given('string', 'The category for a reader.'),
    detail: given('string', 'The part of this request that is wrong.'),
    localized_message: given('string', 'The sentence in the language of the caller.'),
    locale: given('string', 'The language of localized_message.'),
    retryable: given('boolean', 'True when the same request may succeed later.'),
    request_id: given('string', 'The same as the header x-request-id.'),
  },
  ['code', 'category', 'status', 'title', 'retryable'],
)

const COMPONENTS = {
  schemas: {
    Failure: object(
      {
        success: { const: false },
        error: given('string', 'The error, for a reader.'),
        error_code: oneOf(Object.keys(FAULTS), 'The error, for a program.'),
        problem: { $ref: '#/components/schemas/Problem' },
      },
      ['success', 'error', 'error_code', 'problem'],
    ),
    Problem: PROBLEM,
    Json: ANY_JSON,
  },
  headers: {
    RequestId: { description: 'The id of this request in logs.', schema: { type: 'string' } },
    RetryAfter: {
      description: 'Seconds to wait before the next attempt.',
      schema: { type: 'integer' },
    },
    RateLimit: {
      description:
        'Requests in the window, what is left of them, or the seconds until the next one.',
      schema: { type: 'integer' },
    },
  },
  securitySchemes: {
    gatewayToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The token of a private gateway; none is needed where none is set.',
    },
  },
}
