// The OpenAPI 3.1 document of the gateway, made from one row a route. Its schemas are the objects
// that check the JSON types of requests; a test compares their other rules with the readers.

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'

import { Components } from './components.ts'
import { examplesOf } from './examples.ts'
import { ANY_JSON, given, object, oneOf } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema, Properties } from '#src/schemas/json-schema'
import { RULE_CONDITION } from '#src/schemas/rules/rule-form'
import { parametersOf } from './openapi-parameters.ts'

/** One route as the document describes it. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
  /** With `{name}` for each place in the path. */
  readonly path: string
  /** The operationId: a verb and its noun. Absent for one that is made of method and path. */
  readonly operation?: string
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
  /** The headers that it reads, as the properties of an object. */
  readonly headers?: ObjectSchema
  /** The member `data` of the success envelope, or one line of a `raw` stream. */
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

interface OpenApiOptions {
  readonly routes: readonly RouteDescription[]
  readonly version: string
  readonly statusOf: Readonly<Record<FaultCode, number>>
}

/** The document as plain data. Rows of the same path stand together. */
export function openApiDocument({ routes, version, statusOf }: OpenApiOptions): JsonSchema {
  const described = routes.filter(({ upgradesTo }) => upgradesTo === undefined)
  const paths: Record<string, Record<string, JsonSchema>> = {}
  const components = new Components()
  for (const [name, schema] of Object.entries(SCHEMAS)) components.refer(schema, name)
  for (const route of described) {
    const methods = (paths[route.path] ??= {})
    methods[route.method.toLowerCase()] = operation(route, statusOf, components)
  }
  const document: JsonSchema = {
    openapi: '3.1.0',
    info: {
      title: 'Heliograph',
      version,
      description: descriptionOf(routes),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [...new Set(described.map((route) => route.tag))].map((name) => ({ name })),
    servers: [{ url: '/', description: 'The gateway that gave this document.' }],
    // The token is needed only when the gateway has one; then every route asks for it.
    security: [{ gatewayToken: [] }, {}],
    paths,
    components: {
      ...COMPONENTS,
      responses: components.responses,
      schemas: components.schemas,
    },
  }
  // Without the readers and writers that schemas carry (members.ts).
  return JSON.parse(JSON.stringify(document)) as JsonSchema
}

/** Says what the gateway is for, and lists the routes that switch to another protocol. */
const descriptionOf = (routes: readonly RouteDescription[]): string =>
  [
    'Takes Messages, Events and Things for Channels and carries them to subscribed devices.',
    'A key of a Channel may stand in the place of its password; then channel_id may be left out.',
    'A member that is null counts as left out. A number may be sent as text, a word in any case.',
    ...routes.flatMap(({ method, path, summary, upgradesTo }) =>
      upgradesTo === undefined ? [] : [`- \`${method} ${path}\`, ${upgradesTo}: ${summary}.`],
    ),
  ].join('\n')

function operation(
  route: RouteDescription,
  statusOf: OpenApiOptions['statusOf'],
  components: Components,
): JsonSchema {
  const parameters = parametersOf(route)
  const operationId = route.operation ?? operationIdOf(route)
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1)
  return {
    operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(route, name, components),
    responses: {
      200: { description: 'Done.', headers: HEADERS, content: answerOf(route, name, components) },
      ...refusals(route, statusOf, components),
    },
  }
}

function requestBody(route: RouteDescription, name: string, components: Components): JsonSchema {
  const { method, request, mediaTypes, bodies, isBodyOptional } = route
  if (request !== undefined) {
    const schema = components.refer(request, `${name}Request`)
    const examples = isObjectSchema(request) && { examples: examplesOf(request) }
    return { requestBody: { required: true, content: bodyOf({ schema, ...examples }, mediaTypes) } }
  }
  if (bodies === undefined || method === 'GET') return {}
  const content = Object.entries(bodies).map(([mediaType, schema]) => [mediaType, { schema }])
  const required = isBodyOptional !== true
  return { requestBody: { required, content: Object.fromEntries(content) as JsonSchema } }
}

function bodyOf(content: JsonSchema, mediaTypes = JSON_ONLY): JsonSchema {
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

function answerOf(
  { data, raw }: RouteDescription,
  name: string,
  components: Components,
): JsonSchema {
  if (raw !== undefined) {
    const line = data && { contentSchema: components.refer(data, `${name}Line`) }
    return contentOf({ ...raw.schema, ...line }, raw.mediaType)
  }
  const members: Properties = {
    success: given('boolean', 'Always true.'),
    ...(data !== undefined && { data: components.refer(data, `${name}Data`) }),
  }
  return contentOf(components.refer(object(members, Object.keys(members)), `${name}Answer`))
}

const contentOf = (schema: JsonSchema, mediaType = 'application/json'): JsonSchema => ({
  [mediaType]: { schema },
})

/**
 * One response for each status, which lists the codes behind it. Routes share those that are the
 * same; the sentence of each code stands in the schema ErrorCode.
 */
function refusals(
  { codes, rawRefusal }: RouteDescription,
  statusOf: OpenApiOptions['statusOf'],
  components: Components,
): Record<string, JsonSchema> {
  const byStatus = Map.groupBy([...new Set(codes)].toSorted(), (code) => statusOf[code])
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      components.share(`Refusal${status}`, refusal(status, group, rawRefusal)),
    ]),
  )
}

function refusal(
  status: number,
  codes: readonly FaultCode[],
  schema: JsonSchema = { $ref: '#/components/schemas/Failure' },
): JsonSchema {
  return {
    description: `${codes.map((code) => `\`${code}\``).join(', ')}.`,
    'x-error-codes': codes,
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

const CODES = Object.entries(FAULTS)

/** Every code with its sentence. */
const ERROR_CODE = oneOf(
  CODES.map(([code]) => code),
  `The error, for a program.\n${CODES.map(([code, line]) => `- \`${code}\`: ${line}`).join('\n')}`,
)

const SCHEMAS = {
  ErrorCode: ERROR_CODE,
  Failure: object(
    {
      success: given('boolean', 'Always false.'),
      error: given('string', 'The error, for a reader.'),
      error_code: { $ref: '#/components/schemas/ErrorCode' },
      problem: { $ref: '#/components/schemas/Problem' },
    },
    ['success', 'error', 'error_code', 'problem'],
  ),
  Problem: PROBLEM,
  JsonValue: ANY_JSON,
  RuleCondition: RULE_CONDITION,
}

const INTEGER = { type: 'integer', format: 'int64' }

const COMPONENTS = {
  headers: {
    RequestId: { description: 'The id of this request in logs.', schema: { type: 'string' } },
    RetryAfter: {
      description: 'Seconds to wait before the next attempt.',
      schema: INTEGER,
    },
    RateLimit: {
      description:
        'Requests in the window, what is left of them, or the seconds until the next one.',
      schema: INTEGER,
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
