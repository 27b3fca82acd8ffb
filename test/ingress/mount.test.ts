// Goal: a handler written for node:http is a row like any other: its token, address, headers and
// errors are those of the gateway.

import type { ServerResponse } from 'node:http'

import test from 'ava'

import { fault } from '#domain/fault'
import type { Exchange } from '#src/http/exchange'
import type { Head } from '#src/http/router'
import { mount } from '#src/ingress/mount'
import { FakeLogger } from '#test/support/fake-telemetry'
import { startApp } from '#test/support/mounted-app'
import { until } from '#test/support/until'

test('a redirect keeps each of its cookies', async (t) => {
  const rig = await startApp(t)
  const { status, headers } = await rig.send('/app/login', { redirect: 'manual' })
  t.is(status, 302)
  t.is(headers.get('location'), '/app/done?ok=1')
  t.deepEqual(headers.getSetCookie(), [
    'session=a; path=/; httponly',
    'language=b; path=/; httponly',
  ])
})

test('mount/2: a handler gets the address and the id that the gateway knows', async (t) => {
  const rig = await startApp(t, { trustedProxies: ['127.0.0.1'] })
  const { json, headers } = await rig.get('/app/origin?a=1&b=%20', {
    'x-forwarded-for': '198.51.100.9, 203.0.113.7',
    'x-forwarded-host': 'elsewhere.example',
    'x-request-id': 'mine-1',
    cookie: 'a=1; b=2',
  })
  const told = { url: '/app/origin?a=1&b=%20', forwarded: '', id: 'mine-1', cookies: 'a=1; b=2' }
  t.deepEqual(json, { ip: '203.0.113.7', from: '203.0.113.7', ...told })
  t.is(headers.get('x-request-id'), 'mine-1')
  t.is(headers.get('cache-control'), 'max-age=60')
})

test('mount/3: nothing is opened of a request beyond its budget', (t) => {
  const refusal = fault('rate_limited')
  const admit = (address: string) => (address === '203.0.113.7' ? refusal : undefined)
  const { reader } = mount({
    path: '/app',
    handler: () => t.fail(),
    admit,
    logger: new FakeLogger(),
  })
  const head: Head = {
    method: 'POST',
    target: '/app',
    address: '203.0.113.7',
    tellsAddress: true,
    header: () => '9',
    allHeaders: () => [],
    query: () => '',
    parameter: () => '',
  }
  const exchange: Exchange = {
    address: 'unknown',
    readBody: () => t.fail(),
    openBody: () => {
      throw new Error('its body was opened')
    },
    hasRoomFor: () => true,
    reply: () => undefined,
  }
  t.is(reader.open?.(head, exchange), refusal)
})

test('a handler that throws before it answers gives 500 and ends nothing else', async (t) => {
  const rig = await startApp(t, {
    handler: () => {
      throw new Error('no')
    },
  })
  const { status, json } = await rig.get('/app/x')
  t.is(status, 500)
  t.is(json['error_code'], 'internal_error')
  t.is((await rig.get('/')).status, 200)
})

test('HEAD has the headers of GET and no body', async (t) => {
  const rig = await startApp(t)
  for (const [path, length] of [
    ['/app/idle', '12'],
    ['/app/large', '4000000'],
  ] as const) {
    const { status, headers, text } = await rig.send(path, { method: 'HEAD' })
    t.is(status, 200)
    t.is(headers.get('content-length'), length)
    t.is(text, '')
  }
})

test('an answer without content has no content type and no length', async (t) => {
  const rig = await startApp(t)
  const { status, headers } = await rig.get('/app/nothing')
  t.is(status, 204)
  t.is(headers.get('content-type'), null)
  t.is(headers.get('content-length'), null)
})

test('the handler answers for unknown paths below its own, and the gateway for others', async (t) => {
  const rig = await startApp(t)
  t.is((await rig.get('/app/unknown')).text, 'Not Found')
  t.is((await rig.get('/application')).json['error_code'], 'route_not_found')
  t.is((await rig.send('/app/idle', { method: 'PATCH' })).status, 405)
  const { paths } = (await rig.get('/openapi.json?styles=1')).json as { paths: object }
  t.deepEqual(
    Object.keys(paths).filter((path) => path.startsWith('/app')),
    [],
  )
})

test('a row behind the gateway token lets nobody reach the handler without it', async (t) => {
  const rig = await startApp(t, { token: 'secret' })
  const refused = await rig.get('/app/idle')
  t.is(refused.status, 401)
  t.is(refused.json['error_code'], 'authentication_failed')
  t.is((await rig.get('/app/idle', { authorization: 'Bearer secret' })).text, 'read nothing')
})

test('a head that node:http would refuse gets 400', async (t) => {
  const rig = await startApp(t)
  const raw = rig.connect()
  raw.socket.write('GET /app/中 HTTP/1.1\r\nhost: x\r\n\r\n')
  t.regex(await raw.until(/malformed/), /^HTTP\/1.1 400/)
})

/** Ways in which a handler ends its answer. */
const ENDINGS: readonly (readonly [how: string, answer: (response: ServerResponse) => unknown])[] =
  [
    ['with a length', (response) => response.writeHead(200, { 'content-length': 2 }).end('ok')],
    ['in pieces', (response) => response.writeHead(200).write('o') && response.end('k')],
    ['without content', (response) => response.writeHead(204).end()],
  ]

for (const [how, answer] of ENDINGS) {
  test(`mount/4: no connection to a handler outlives an answer ${how}`, async (t) => {
    let open = 0
    const rig = await startApp(t, {
      handler: ({ socket }, response) => {
        open += 1
        socket.once('close', () => (open -= 1))
        return answer(response)
      },
    })
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? { body: 'a=b' } : {}
      t.true((await rig.send('/app/x', { method, ...body })).status < 300)
    }
    await until('both are closed', () => open === 0)
    t.is(open, 0)
  })
}
