// Goal: the table of routes and its document say the same, and the document is a true one.

import test from 'ava'

import { guardOf, methodsOf } from '#src/ingress/row'
import { routeTable } from '#src/ingress/routes'
import type { TablePorts } from '#src/ingress/routes'
import { startIngress } from '#test/support/start-ingress'

/** The table without anything behind it: handlers are made, none is called. */
const TABLE = routeTable({ acceptance: {}, probes: [] as const } as unknown as TablePorts)

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>
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

test('the document gives 413 for every route with a body and 401 for every guarded one', async (t) => {
  const { get } = await startIngress(t)
  const { paths } = (await get('/openapi.json')).json as {
    paths: Record<string, Record<string, Operation>>
  }
  for (const { methods, path, reader, token, isWebSocket } of TABLE) {
    if (isWebSocket === true) continue
    for (const method of methods) {
      const statuses = Object.keys(paths[path]?.[method.toLowerCase()]?.responses ?? {})
      t.is(statuses.includes('413'), reader.bytesMax > 0, path)
      t.is(statuses.includes('401'), token === 'required', path)
    }
  }
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
  /^\/(message(\/cancel)?|(event|thing|rule)\/.*|channel\/(create|subscribe|sync|rename|password|delete|info|history|mappings|key.*|subscriber\/.*))$/

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
