// Goal: the document is a valid OpenAPI 3.1 whatever rows it is made of.
// Method: rows of each kind; then the rules of the format that a reader would trip over:
// references, operation ids, path parameters, responses, and that every schema compiles.

import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { CHANNEL_ROUTES } from '#src/schemas/channel-schemas'
import { openApiDocument } from '#src/schemas/document/openapi'
import type { RouteDescription } from '#src/schemas/document/openapi'
import { isRecord } from '#domain/record'
import { EVENT_ROUTES } from '#src/schemas/event-schemas'
import { MESSAGE_ROUTES } from '#src/schemas/message-schemas'
import { STATUS_ROUTES } from '#src/schemas/submission-schemas'
import { THING_ROUTES } from '#src/schemas/thing-schemas'
import { keyed } from '#src/schemas/document/openapi-parameters'

const CODES = Object.keys(FAULTS).filter((code): code is FaultCode => code in FAULTS)
const STATUSES = [400, 401, 404, 405, 409, 413, 429, 503]
const statusOf = Object.fromEntries(
  CODES.map((code, index) => [code, STATUSES[index % STATUSES.length] ?? 500]),
) as Record<FaultCode, number>

const routes: readonly RouteDescription[] = [
  {
    method: 'POST',
    path: '/message',
    summary: 'Send a Message',
    tag: 'Messages',
    request: MESSAGE_ROUTES['/message'].request,
    data: MESSAGE_ROUTES['/message'].data,
    codes: CODES,
  },
  {
    method: 'GET',
    path: '/message',
    summary: 'Send a Message by its query',
    tag: 'Messages',
    query: MESSAGE_ROUTES['GET /message'].query,
    data: MESSAGE_ROUTES['GET /message'].data,
    codes: ['title_required'],
  },
  {
    method: 'POST',
    path: '/thing/{thing_id}/event/create',
    summary: 'Begin an Event of a Thing',
    tag: 'Events',
    request: EVENT_ROUTES['/event/create'].request,
    data: EVENT_ROUTES['/event/create'].data,
    codes: ['event_time_required', 'event_time_required', 'server_busy'],
  },
  {
    method: 'POST',
    path: '/thing/delete',
    summary: 'Remove a Thing',
    tag: 'Things',
    request: THING_ROUTES['/thing/delete'].request,
    data: THING_ROUTES['/thing/delete'].data,
    codes: [],
  },
  {
    method: 'GET',
    path: '/session',
    summary: 'Open a session',
    tag: 'Gateway',
    upgradesTo: 'WebSocket',
    codes: [],
  },
  {
    method: 'GET',
    path: '/send_status/{op_id}',
    summary: 'Get the status of an operation',
    tag: 'Operations',
    data: STATUS_ROUTES['GET /send_status/{op_id}'].data,
    codes: ['send_status_not_found'],
  },
  {
    method: 'GET',
    path: '/channel/exists',
    summary: 'Check whether a Channel exists',
    tag: 'Channels',
    query: CHANNEL_ROUTES['GET /channel/exists'].query,
    data: CHANNEL_ROUTES['GET /channel/exists'].data,
    codes: [],
  },
  {
    method: 'GET',
    path: '/metrics',
    summary: 'Numbers',
    tag: 'Operations',
    raw: { mediaType: 'text/plain', schema: { type: 'string' } },
    codes: ['authentication_failed'],
  },
]

const document = openApiDocument({ routes, version: '1.2.3', statusOf })

function* nodesOf(node: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (isRecord(node)) yield node
  if (typeof node !== 'object' || node === null) return
  for (const inner of Object.values(node)) yield* nodesOf(inner)
}

/** The value at a path of names; fails the test by throwing where there is none. */
const at = (...names: readonly string[]): Readonly<Record<string, unknown>> =>
  names.reduce<Readonly<Record<string, unknown>>>((node, name) => {
    const next = node[name]
    if (!isRecord(next)) throw new Error(`nothing at ${names.join(' ')}`)
    return next
  }, document)

test('every reference resolves', (t) => {
  const references = [...nodesOf(document)].flatMap(({ $ref }) =>
    typeof $ref === 'string' ? [$ref] : [],
  )
  t.true(references.length > 10)
  for (const reference of references) {
    t.regex(reference, /^#\//)
    t.notThrows(() => at(...reference.slice(2).split('/')), reference)
  }
})

test('every row that stays with HTTP is an operation with an id of its own, and with 200', (t) => {
  const ids = routes.flatMap(({ method, path, upgradesTo }) => {
    if (upgradesTo !== undefined) return []
    const operation = at('paths', path, method.toLowerCase())
    t.true(isRecord(operation['responses']) && '200' in operation['responses'], path)
    return [operation['operationId']]
  })
  t.is(new Set(ids).size, routes.length - 1)
  t.is(ids[2], 'post_thing_thing_id_event_create')
})

test('a row that switches to another protocol stands in the description alone', (t) => {
  t.false('/session' in at('paths'))
  const { description } = at('info')
  t.true(String(description).includes('- `GET /session`, WebSocket: Open a session.'))
})

test('every place in a path is a required parameter, and every query member a parameter', (t) => {
  const scoped = at('paths', '/thing/{thing_id}/event/create', 'post')
  t.like(scoped['parameters'], {
    length: 1,
    0: {
      name: 'thing_id',
      in: 'path',
      required: true,
      schema: { type: 'string', pattern: '^(?:[A-Za-z0-9_:-]{1,64})$' },
    },
  })
  const exists = at('paths', '/channel/exists', 'get')
  t.like(exists['parameters'], { length: 1, 0: { name: 'channel_id', in: 'query' } })
})

test('query members that depend on each other are one object, sent as single parameters', (t) => {
  const { parameters } = at('paths', '/message', 'get')
  const [fields, metadata, ...others] = Array.isArray(parameters) ? parameters.filter(isRecord) : []
  t.deepEqual(others, [])
  t.like(fields, { in: 'query', required: true, style: 'form', explode: true })
  t.true(isRecord(metadata?.['content']))
  const { schema } = { ...fields }
  const names = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {}
  t.deepEqual(
    [...Object.keys(names), String(metadata?.['name'])].toSorted(),
    Object.keys(MESSAGE_ROUTES['GET /message'].query.properties).toSorted(),
  )
})

test('the request schema is made of the very object whose JSON types check the request', (t) => {
  const of = (path: string) =>
    at('paths', path, 'post', 'requestBody', 'content', 'application/json')['schema']
  t.deepEqual(of('/message'), keyed(MESSAGE_ROUTES['/message'].request))
})

test('each status lists its codes once, and says when to come again', (t) => {
  for (const status of STATUSES) {
    const response = at('paths', '/message', 'post', 'responses', String(status))
    const headers = Object.keys(
      at('paths', '/message', 'post', 'responses', String(status), 'headers'),
    )
    const codes = CODES.filter((code) => statusOf[code] === status)
    for (const code of codes) t.true(String(response['description']).includes(`\`${code}\``), code)
    t.true(headers.includes('x-request-id'))
    t.is(headers.includes('retry-after'), status === 429 || status === 503)
  }
  const status = String(statusOf.event_time_required)
  const repeated = at('paths', '/thing/{thing_id}/event/create', 'post', 'responses', status)
  t.is(String(repeated['description']).split('event_time_required').length, 2)
})

test('an answer outside the envelope has its own media type', (t) => {
  const { content } = at('paths', '/metrics', 'get', 'responses', '200')
  t.deepEqual(content, { 'text/plain': { schema: { type: 'string' } } })
})

test('the top of the document is complete and the whole of it is plain JSON', (t) => {
  t.like(document, { openapi: '3.1.0', info: { title: 'Heliograph', version: '1.2.3' } })
  t.deepEqual(JSON.parse(JSON.stringify(document)), document)
  const staying = routes.filter(({ upgradesTo }) => upgradesTo === undefined)
  const tags = [...new Set(staying.map(({ tag }) => tag))]
  t.deepEqual(
    document['tags'],
    tags.map((name) => ({ name })),
  )
  t.like(at('components', 'securitySchemes', 'gatewayToken'), { type: 'http', scheme: 'bearer' })
})

test('every schema in the document is a JSON schema of draft 2020-12', (t) => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
  const schemas = [...nodesOf(document)].map((node) => node['schema']).filter(isRecord)
  t.true(schemas.length > 20)
  const { components } = document
  ajv.addKeyword('components')
  for (const schema of schemas) {
    t.true(ajv.validateSchema(schema), JSON.stringify(ajv.errors))
    if (!('$ref' in schema))
      t.notThrows(() => ajv.compile({ ...schema, components }), JSON.stringify(schema))
  }
  for (const name of ['Failure', 'Problem']) {
    t.true(ajv.validateSchema(at('components', 'schemas', name)))
  }
})
