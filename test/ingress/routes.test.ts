// Goal: the table of routes and its document say the same, and the document is a true one.

import test from 'ava'

import { guardOf, methodsOf } from '#src/ingress/row'
import { routeTable } from '#src/ingress/routes'
import type { TablePorts } from '#src/ingress/routes'
import { startIngress } from '#test/support/start-ingress'

/** The table without anything behind it: handlers are made, none is called. */
const TABLE = routeTable({ acceptance: {}, probes: [] as const } as unknown as TablePorts)

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >
}

test('the OpenAPI document has every route of the table and no other', async (t) => {
  const { get } = await startIngress(t)
  const answer = await get('/openapi.json')
  t.is(answer.status, 200)
  const { openapi, info, paths } = answer.json as {
    openapi: string
    info: { description: string }
    paths: Record<string, Record<string, Operation>>
  }
  t.regex(openapi, /^3\.1/)
  t.true(answer.text.length <= 300_000, `${answer.text.length} characters`)
  const told = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  // OpenAPI has no form for a WebSocket: the description names it.
  const named = [...info.description.matchAll(/^- `(\w+ \S+)`/gm)].flatMap(
    ([, route = '']) => route,
  )
  t.deepEqual(named, ['GET /private/ws'])
  t.deepEqual(
    [...told, ...named].toSorted(),
    TABLE.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)).toSorted(),
  )
})

test('the documents come compressed to whoever takes that, each form with an etag of its own', async (t) => {
  const { send } = await startIngress(t)
  for (const path of ['/openapi.json', '/openapi.json?styles=1', '/asyncapi.json']) {
    const plain = await send(path, { headers: { 'accept-encoding': 'identity' } })
    const etags = new Set([plain.headers.get('etag')])
    for (const encoding of ['br', 'gzip']) {
      const { headers, text } = await send(path, { headers: { 'accept-encoding': encoding } })
      t.is(headers.get('content-encoding'), encoding, path)
      t.is(headers.get('vary'), 'accept-encoding')
      t.is(text, plain.text)
      t.true(Number(headers.get('content-length')) < plain.text.length / 4, path)
      etags.add(headers.get('etag'))
    }
    t.is(etags.size, 3)
    const refused = await send(path, { headers: { 'accept-encoding': 'gzip;q=0' } })
    t.is(refused.headers.get('content-encoding'), null)
  }
})

test('the document gives 413 for every route with a body and 401 for every guarded one', async (t) => {
  const { get } = await startIngress(t)
  const { paths } = (await get('/openapi.json')).json as {
    paths: Record<string, Record<string, Operation>>
  }
  for (const { methods, path, reader, token, isWebSocket } of TABLE) {
    if (isWebSocket === true) continue
    for (const method of methods) {
      const statuses = Object.keys(paths[path]?.[method.toLowerCase()]?.responses ?? {})
      const mayBeLarge = reader.bytesMax > 0 || path === '/channel/metrics'
      t.is(statuses.includes('413'), mayBeLarge, path)
      t.is(statuses.includes('401'), token === 'required' || token === 'proven', path)
    }
  }
})

test('an answer that is neither JSON nor plain text is bytes to generated clients, and its lines have a named schema', async (t) => {
  const { get } = await startIngress(t)
  const { paths, components } = (await get('/openapi.json')).json as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, { properties: object }> }
  }
  const others = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ responses }) =>
      Object.entries(responses['200']?.content ?? {})
        .filter(([type]) => type !== 'application/json' && !type.startsWith('text/'))
        .map(([type, { schema }]) => [path, type, schema] as const),
    ),
  )
  const bytes = { type: 'string', format: 'binary' }
  t.deepEqual(others, [
    [
      '/channel/export',
      'application/x-ndjson',
      { ...bytes, contentSchema: { $ref: '#/components/schemas/ExportLine' } },
    ],
    ['/channel/metrics', 'application/openmetrics-text', bytes],
  ])
  t.like(components.schemas['ExportLine']?.properties, {
    accepted_at: { type: 'integer', format: 'int64' },
  })
})

test('an object that several requests and answers have is one type of generated clients', async (t) => {
  const { get } = await startIngress(t)
  const { components } = (await get('/openapi.json')).json as {
    components: { schemas: Record<string, object> }
  }
  const within = Object.entries(components.schemas).filter(
    ([name]) => !/(Request|Answer|Data)$/.test(name),
  )
  const alike = Map.groupBy(within, ([, schema]) => JSON.stringify(schema)).values()
  for (const names of alike) t.is(names.length, 1, names.map(([name]) => name).join())
})

test('every route answers its method and refuses the others with Allow', async (t) => {
  const { send } = await startIngress(t)
  const allowed = new Map<string, string[]>()
  for (const row of TABLE) {
    allowed.set(row.path, [...(allowed.get(row.path) ?? []), ...methodsOf(row)])
  }
  for (const [template, methods] of allowed) {
    const path = template.replace(/\{\w+\}/g, 'x')
    const refused = await send(path, { method: 'DELETE' })
    t.is(refused.status, 405, path)
    t.is(refused.json['error_code'], 'method_not_allowed')
    t.is(refused.headers.get('allow'), methods.join(', '), path)
    for (const method of methods) {
      const { status } = await send(path, { method })
      t.not(status, 405, path)
    }
  }
})

// Everything that takes a channel password; a new route must decide whether it belongs here.
const COUNTED =
  /^\/(message(\/cancel)?|delivery\/receipts|(event|thing|rule)\/.*|channel\/(create|subscribe|sync|rename|password|delete|info|history|refusals|presentation|export|metrics|mappings|hooks|key.*|subscriber\/.*))$/

test('every route that takes a channel password counts in the budget, and no other', (t) => {
  for (const row of TABLE) {
    const { budget } = guardOf(row)
    const expected = row.path === '/device/register' ? 'devices' : 'none'
    t.is(budget, COUNTED.test(row.path) ? 'passwords' : expected, row.path)
  }
})

test('a path that nearly matches a route is refused as unknown', async (t) => {
  const { send } = await startIngress(t)
  for (const path of ['/messages', '/thing', '/thing/update/', '/Message', '/send_status/a/b']) {
    const answer = await send(path, { method: 'POST', body: '{}' })
    t.is(answer.status, 404, path)
    t.is(answer.json['error_code'], 'route_not_found', path)
  }
})
