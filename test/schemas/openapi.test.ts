// Goal: the document is a valid OpenAPI 3.1 whatever rows it is made of.
// Method: rows of each kind; then the rules of the format that a reader would trip over:
// references, operation ids, path parameters, responses, and that every schema compiles.

import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { CHANNEL } from '#src/schemas/channel-routes'
import { openApiDocument } from '#src/schemas/document/openapi'
import type { RouteDescription } from '#src/schemas/document/openapi'
import { isRecord } from '#domain/record'
import { given, named, whole } from '#src/schemas/json-schema'
import { EVENT_CHANGE } from '#src/schemas/event-schemas'
import { MESSAGE } from '#src/schemas/message-schemas'
import { STATUS } from '#src/schemas/submission-schemas'
import { THING_CHANGE } from '#src/schemas/thing-schemas'

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
    request: MESSAGE.send.request,
    data: MESSAGE.send.data,
    codes: CODES,
  },
  {
    method: 'GET',
    path: '/message',
    summary: 'Send a Message by its query',
    tag: 'Messages',
    query: MESSAGE.sendByQuery.query,
    data: MESSAGE.sendByQuery.data,
    codes: ['title_required'],
  },
  {
    method: 'POST',
    path: '/thing/{thing_id}/event/create',
    summary: 'Begin an Event of a Thing',
    tag: 'Events',
    request: EVENT_CHANGE.create.request,
    data: EVENT_CHANGE.create.data,
    codes: ['event_time_required', 'event_time_required', 'server_busy'],
  },
  {
    method: 'POST',
    path: '/thing/delete',
    summary: 'Remove a Thing',
    tag: 'Things',
    request: THING_CHANGE.delete.request,
    data: THING_CHANGE.delete.data,
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
    data: STATUS.find.data,
    codes: ['send_status_not_found'],
  },
  {
    method: 'GET',
    path: '/channel/exists',
    summary: 'Check whether a Channel exists',
    tag: 'Channels',
    query: CHANNEL.exists.query,
    data: CHANNEL.exists.data,
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

test('each query member is a parameter of one plain type', (t) => {
  const { parameters } = at('paths', '/message', 'get')
  const sent = Array.isArray(parameters) ? parameters.filter(isRecord) : []
  t.deepEqual(
    sent.map(({ name }) => name),
    Object.keys(MESSAGE.sendByQuery.query.properties),
  )
  for (const { name, schema } of sent) {
    t.true(isRecord(schema) && ['string', 'number'].includes(String(schema['type'])), String(name))
  }
})

test('requests, answers and nouns are components, which say what a caller writes', (t) => {
  const { requestBody } = at('paths', '/message', 'post')
  t.like(requestBody, {
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Post_messageRequest' } },
    },
  })
  const { properties } = at('components', 'schemas', 'Post_messageRequest')
  const names = Object.keys(MESSAGE.send.request.properties)
  t.deepEqual(
    Object.keys(isRecord(properties) ? properties : {}),
    names.filter((name) => name !== 'message_id'),
  )
  t.like(at('components', 'schemas', 'Post_messageAnswer'), {
    properties: { data: { $ref: '#/components/schemas/AcceptedMessage' } },
  })
})

test('two schemas cannot share a name', (t) => {
  const row = { method: 'POST', path: '/a', summary: 'A', tag: 'A', codes: [] } as const
  const rows = ['A', 'B'].map((member) => ({
    ...row,
    path: `/${member}`,
    data: named('Noun', whole({ [member]: given('string', member) })),
  }))
  t.throws(() => openApiDocument({ routes: rows, version: '1', statusOf }), {
    message: 'two schemas are named Noun',
  })
})

test('the document holds nothing that generators of clients make no types of', (t) => {
  const nodes = [...nodesOf(document)]
  // A member may have the name of a keyword: `not` of a condition.
  const members = new Set(nodes.map(({ properties }) => properties))
  for (const node of nodes.filter((each) => !members.has(each))) {
    const { type, pattern, name } = node
    t.false(Array.isArray(type), JSON.stringify(node))
    if (typeof pattern === 'string') t.true(pattern.length <= 210, pattern)
    if (type === 'integer') t.is(node['format'], 'int64')
    if (type === 'number') t.is(node['format'], 'double')
    for (const keyword of ['anyOf', 'allOf', 'oneOf', 'not']) t.false(keyword in node, String(name))
    t.false('content' in node && 'example' in node, String(name))
  }
})

/** What the operation refers to as its answer with this status. */
function refusal(path: string, status: number): Readonly<Record<string, unknown>> {
  const { $ref } = at('paths', path, 'post', 'responses', String(status))
  return at(...String($ref).slice(2).split('/'))
}

test('each status lists its codes once, and says when to come again', (t) => {
  for (const status of STATUSES) {
    const response = refusal('/message', status)
    const headers = Object.keys(isRecord(response['headers']) ? response['headers'] : {})
    const codes = CODES.filter((code) => statusOf[code] === status)
    t.deepEqual(response['x-error-codes'], codes.toSorted())
    for (const code of codes) t.true(String(response['description']).includes(`\`${code}\``), code)
    t.true(headers.includes('x-request-id'))
    t.is(headers.includes('retry-after'), status === 429 || status === 503)
  }
  const repeated = refusal('/thing/{thing_id}/event/create', statusOf.event_time_required)
  t.deepEqual(repeated['x-error-codes'], ['event_time_required'])
})

test('the sentence of a code stands in the document once', (t) => {
  const text = JSON.stringify(document)
  for (const code of CODES) {
    const line = JSON.stringify(`- \`${code}\`: ${FAULTS[code]}`).slice(1, -1)
    t.is(text.split(line).length, 2, code)
  }
  t.deepEqual(at('components', 'schemas', 'ErrorCode')['enum'], CODES)
})

test('routes that refuse alike share the response', (t) => {
  const rows = routes.map((route) => ({ ...route, codes: ['server_busy'] as const }))
  const { components } = openApiDocument({ routes: rows, version: '1', statusOf })
  const responses = isRecord(components) ? components['responses'] : undefined
  t.deepEqual(Object.keys(isRecord(responses) ? responses : {}), [`Refusal${statusOf.server_busy}`])
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
  const formats = { int64: true, double: true } as const
  const ajv = new Ajv2020({ strict: true, formats })
  const schemas = [...nodesOf(document)].map((node) => node['schema']).filter(isRecord)
  t.true(schemas.length > 20)
  schemas.push(...Object.values(at('components', 'schemas')).filter(isRecord))
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
