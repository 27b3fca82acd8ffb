// The OpenAPI 3.1 document of the gateway, made from one row a route. Its schemas are the objects
// that check the JSON types of requests; a test compares their other rules with the readers.

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'

import { examplesOf } from './examples.ts'
import { ANY_JSON, given, object, oneOf } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema, Properties } from '#src/schemas/json-schema'
import { keyed, parametersOf } from './openapi-parameters.ts'

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
  /** A body of another kind, by media type, in place of `request`; a GET has none. */
  readonly bodies?: Readonly<Record<string, JsonSchema>>
  /** Set when `bodies` may be left out. */
  readonly isBodyOptional?: true
  /** The query parameters, as the properties of an object. */
  readonly query?: ObjectSchema
  /** The member `data` of the success envelope. */
  readonly data?: JsonSchema
  /**
   * The protocol to which success switches the connection, with status 101. OpenAPI cannot describe
   * such a route: the description of the document lists it.
   */
  readonly upgradesTo?: string
  /** Set when the answer with status 200 stands outside the envelope. */
  readonly raw?: { readonly mediaType: string; readonly schema: JsonSchema }
  /** Set when refusals, too, stand outside the envelope: their JSON. */
  readonly rawRefusal?: JsonSchema
  /** Every code that this route may answer. */
  readonly codes: readonly FaultCode[]
}

export interface OpenApiOptions {
  readonly routes: readonly RouteDescription[]
  readonly version: string
  readonly statusOf: Readonly<Record<FaultCode, number>>
}

/** The document as plain data. Rows of the same path stand together. */
export function openApiDocument({ routes, version, statusOf }: OpenApiOptions): JsonSchema {
  const described = routes.filter(({ upgradesTo }) => upgradesTo === undefined)
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of described) {
    const methods = (paths[route.path] ??= {})
    methods[route.method.toLowerCase()] = operation(route, statusOf)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heliograph',
      version,
      description: descriptionOf(routes),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [...new Set(described.map((route) => route.tag))].map((name) => ({ name })),
    // The token is needed only when the gateway has one; then every route asks for it.
    security: [{ gatewayToken: [] }, {}],
    paths,
    components: COMPONENTS,
  }
}

/** Says what the gateway is for, and lists the routes that switch to another protocol. */
const descriptionOf = (routes: readonly RouteDescription[]): string =>
  [
    'Takes Messages, Events and Things for Channels and carries them to subscribed devices.',
    ...routes.flatMap(({ method, path, summary, upgradesTo }) =>
      upgradesTo === undefined ? [] : [`- \`${method} ${path}\`, ${upgradesTo}: ${summary}.`],
    ),
  ].join('\n')

function operation(route: RouteDescription, statusOf: OpenApiOptions['statusOf']): JsonSchema {
  const parameters = parametersOf(route)
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    tags: [route.tag],
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(route),
    responses: {
      200: { description: 'Done.', headers: HEADERS, content: answerOf(route) },
      ...refusals(route, statusOf),
    },
  }
}

function requestBody(route: RouteDescription): JsonSchema {
  const { method, request, mediaTypes, bodies, isBodyOptional, codes } = route
  if (request !== undefined) {
    const takesKey = codes.includes('key_scope')
    return { requestBody: { required: true, content: bodyOf(request, mediaTypes, takesKey) } }
  }
  if (bodies === undefined || method === 'GET') return {}
  const content = Object.entries(bodies).map(([mediaType, schema]) => [mediaType, { schema }])
  const required = isBodyOptional !== true
  return { requestBody: { required, content: Object.fromEntries(content) as JsonSchema } }
}

function bodyOf(schema: JsonSchema, mediaTypes = JSON_ONLY, takesKey = false): JsonSchema {
  const content = isObjectSchema(schema)
    ? { schema: takesKey ? keyed(schema) : schema, examples: examplesOf(schema) }
    : { schema }
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

const HEADERS = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }

function answerOf({ data, raw }: RouteDescription): JsonSchema {
  if (raw !== undefined) return contentOf(raw.schema, raw.mediaType)
  const members: Properties = { success: { const: true }, ...(data !== undefined && { data }) }
  return contentOf(object(members, Object.keys(members)))
}

const contentOf = (schema: JsonSchema, mediaType = 'application/json'): JsonSchema => ({
  [mediaType]: { schema },
})

/** One response for each status, which lists the codes behind it. */
function refusals(
  { codes, rawRefusal }: RouteDescription,
  statusOf: OpenApiOptions['statusOf'],
): Record<string, JsonSchema> {
  const byStatus = Map.groupBy(new Set(codes), (code) => statusOf[code])
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [String(status), refusal(status, group, rawRefusal)]),
  )
}

function refusal(
  status: number,
  codes: readonly FaultCode[],
  schema: JsonSchema = { $ref: '#/components/schemas/Failure' },
): JsonSchema {
  const lines = codes.map((code) => `- \`${code}\`: ${FAULTS[code]}`)
  return {
    description: lines.join('\n'),
    headers: { ...HEADERS, ...STATUS_HEADERS[status] },
    content: contentOf(schema),
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
      description: 'The gateway token; needed only when the gateway has one.',
    },
  },
}
