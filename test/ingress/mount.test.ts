// Method: a small Koa application, as such libraries are written, mounted on a real ingress.

import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import Koa from 'koa'

import { ARRIVING_BYTES_MAX, ArrivingBody } from '#src/ingress/arriving-body'
import { Deadlines } from '#src/ingress/deadlines'
import { MOUNTED_STREAMS_MAX } from '#src/ingress/traffic'
import { mount } from '#src/ingress/mount'
import type { NodeHandler } from '#src/ingress/mount'
import { FakeTime } from '#test/support/fake-timers'
import { FakeLogger } from '#test/support/fake-telemetry'
import { startIngress } from '#test/support/start-ingress'
import type { Rig, RigOptions } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const BYTES_MAX = 200_000

interface Mounted extends Rig {
  /** The stream of the newest answer of /app/events. */
  readonly events: () => PassThrough
  readonly left: () => number
}

/** The application of these tests, below /app. */
async function startApp(
  t: ExecutionContext,
  options: RigOptions & { readonly handler?: NodeHandler; readonly bytesMax?: number } = {},
): Promise<Mounted> {
  let events = new PassThrough()
  let left = 0
  const koa = new Koa()
  koa.silent = true
  koa.use(async (ctx, next) => {
    switch (ctx.path) {
      case '/app/upload': {
        const body = await buffer(ctx.req)
        ctx.body = { bytes: body.length, type: ctx.get('content-type'), method: ctx.method }
        return
      }
      case '/app/idle':
        ctx.body = 'read nothing'
        return
      case '/app/login':
        ctx.cookies.set('session', 'a', { httpOnly: true })
        ctx.cookies.set('language', 'b')
        ctx.redirect('/app/done?ok=1')
        return
      case '/app/origin':
        ctx.body = {
          ip: ctx.ip,
          url: ctx.url,
          forwarded: ctx.get('forwarded') + ctx.get('x-forwarded-host'),
          from: ctx.get('x-forwarded-for'),
          id: ctx.get('x-request-id'),
          cookies: ctx.get('cookie'),
        }
        ctx.set('cache-control', 'max-age=60')
        return
      case '/app/events':
        events = new PassThrough()
        ctx.type = 'text/event-stream'
        ctx.body = events
        ctx.flushHeaders()
        ctx.res.once('close', () => (left += 1))
        return
      case '/app/nothing':
        ctx.status = 204
        return
      case '/app/large':
        ctx.body = Buffer.alloc(4_000_000, 'x')
        return
      case '/app/never':
        ctx.res.once('close', () => (left += 1))
        await new Promise(() => undefined)
        return
      default:
        await next()
    }
  })
  const row = mount({
    path: '/app/*',
    token: options.token === undefined ? 'none' : 'required',
    handler: options.handler ?? koa.callback(),
    bytesMax: options.bytesMax ?? BYTES_MAX,
    logger: new FakeLogger(),
  })
  const rig = await startIngress(t, { styles: [() => [row]], ...options })
  return { ...rig, events: () => events, left: () => left }
}

const streams = ({ meter }: Rig): number => meter.gauges.get('mounted_streams')?.() ?? -1

for (const [form, body] of [
  ['of a known length', () => Buffer.alloc(BYTES_MAX, 'y')],
  ['in chunks', () => new Blob([Buffer.alloc(BYTES_MAX, 'y')]).stream()],
] as const) {
  test(`an upload ${form} up to the limit of the row arrives whole`, async (t) => {
    const rig = await startApp(t)
    const headers = { 'content-type': 'image/png' }
    const init = { method: 'PUT', body: body(), headers, duplex: 'half' as const }
    const { status, json } = await rig.send('/app/upload', init)
    t.is(status, 200)
    t.deepEqual(json, { bytes: BYTES_MAX, type: 'image/png', method: 'PUT' })
    t.is(rig.ingress.http.bodyBytes, 0)
  })
}

test('an upload one byte beyond the limit gets 413, told before or not', async (t) => {
  const rig = await startApp(t)
  const body = Buffer.alloc(BYTES_MAX + 1)
  t.is((await rig.send('/app/upload', { method: 'POST', body })).status, 413)
  const init = { method: 'POST', body: new Blob([body]).stream(), duplex: 'half' as const }
  const { status, json } = await rig.send('/app/upload', init)
  t.is(status, 413)
  t.is(json['error_code'], 'body_too_large')
  t.is((await rig.get('/app/idle')).status, 200)
})

test('arriving-body/2: an upload that does not arrive in time gets 408', async (t) => {
  const rig = await startApp(t)
  const raw = rig.connect()
  raw.socket.write('POST /app/upload HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc')
  await until('it began', () => rig.ingress.http.bodyBytes === 0 && rig.ingress.http.inFlight === 1)
  rig.time.advance(7_500)
  t.regex(await raw.until(/request_timeout/), /^HTTP\/1.1 408/)
  await raw.ended
})

test('arriving-body/2: a body is refused while all bodies together hold too much', (t) => {
  const time = new FakeTime(0)
  const traffic = {
    deadlines: new Deadlines({ timers: time, monotonicMs: time.monotonicMs, timeoutMs: 1 }),
    bodyBytes: ARRIVING_BYTES_MAX - 3,
  }
  const nothing = (): void => {}
  const ports = { traffic, pause: nothing, resume: nothing, expired: nothing }
  const fits = new ArrivingBody(10, ports)
  fits.arrive(Buffer.from('abc'), true)
  t.is(traffic.bodyBytes, ARRIVING_BYTES_MAX)
  const refused = new ArrivingBody(10, ports)
  refused.arrive(Buffer.from('d'), true)
  t.is(fits.errored, null)
  t.like(refused.errored, { fault: { code: 'server_busy' } })
  fits.destroy()
  t.is(traffic.bodyBytes, ARRIVING_BYTES_MAX - 3)
})

test('arriving-body/1 and 3: a handler that does not read holds the caller back', async (t) => {
  let goOn = (): void => {}
  const whenToldTo = new Promise<void>((resolve) => (goOn = resolve))
  const rig = await startApp(t, {
    bytesMax: 8_000_000,
    handler: async (_request, response) => {
      await whenToldTo
      response.end('enough')
    },
  })
  const raw = rig.connect()
  const body = Buffer.alloc(8_000_000)
  raw.socket.write(`POST /app/x HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`)
  raw.socket.write(body)
  await until('the body is paused', () => rig.ingress.http.bodyBytes > 16_384)
  t.true(rig.ingress.http.bodyBytes < 4_000_000)
  rig.time.advance(60_000) // its time stands still
  goOn()
  await raw.until(/enough/)
  raw.socket.write('GET /app/x HTTP/1.1\r\nhost: x\r\n\r\n')
  t.regex(await raw.until(/enough[^]*enough/), /enough[^]*enough/)
})

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

test('mount/2: a handler is told the address and the id that the gateway knows', async (t) => {
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

test('a first event arrives before the last one is written', async (t) => {
  const rig = await startApp(t)
  const response = await fetch(`${rig.url}/app/events`)
  const reader = response.body?.getReader()
  t.is(Buffer.from((await reader?.read())?.value ?? []).toString(), ':\n\n')
  rig.events().write('data: first\n\n')
  const first = await reader?.read()
  t.is(Buffer.from(first?.value ?? []).toString(), 'data: first\n\n')
  t.is(streams(rig), 1)
  t.is(rig.ingress.http.inFlight, 0)
  rig.events().end('data: last\n\n')
  const last = await reader?.read()
  t.is(Buffer.from(last?.value ?? []).toString(), 'data: last\n\n')
  t.true((await reader?.read())?.done)
  t.is(streams(rig), 0)
})

for (const path of ['/app/events', '/app/never']) {
  test(`mount/1: a caller that leaves ${path} ends the work of the handler`, async (t) => {
    const rig = await startApp(t)
    const raw = rig.connect()
    raw.socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await until('the handler works', () => streams(rig) + rig.ingress.http.inFlight === 1)
    raw.socket.destroy()
    await until('the handler is told', () => rig.left() === 1)
    await until('nothing is held', () => streams(rig) + rig.ingress.http.inFlight === 0)
    t.pass()
  })
}

test('mount/1: a handler that dies in the middle of its answer resets its caller', async (t) => {
  let die = (): void => {}
  const rig = await startApp(t, {
    handler: (_request, response) => {
      response.write('half')
      die = () => response.destroy()
    },
  })
  const response = await fetch(`${rig.url}/app/x`)
  const body = response.text()
  die()
  await t.throwsAsync(body, { message: 'terminated' })
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

test('exchange/5: a caller that reads nothing is cut, and the handler waits meanwhile', async (t) => {
  let made = 0
  let isBroken = false
  const rig = await startApp(t, {
    handler: async (_request, response) => {
      response.once('close', () => (isBroken = !response.writableFinished))
      for (; made < 64 && !response.destroyed; made += 1) {
        if (!response.write(Buffer.alloc(2 ** 20))) await once(response, 'drain')
      }
      response.end()
    },
  })
  const raw = rig.connect()
  raw.socket.pause()
  raw.socket.write('GET /app/x HTTP/1.1\r\nhost: x\r\n\r\n')
  await until('some of it is held', () => rig.ingress.http.unread.bytes > 0)
  t.true(made < 32)
  rig.time.advance(60_000)
  await until('the handler is told', () => isBroken)
  t.is(streams(rig), 0)
  t.is(rig.ingress.http.unread.bytes, 0)
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
  const { paths } = (await rig.get('/openapi.json')).json as { paths: object }
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

test('mount/3: while draining a handler gets no new requests and finishes the old ones', async (t) => {
  const rig = await startApp(t)
  const stream = rig.connect()
  stream.socket.write('GET /app/events HTTP/1.1\r\nhost: x\r\n\r\n')
  await stream.until(/:\n\n/)
  const upload = rig.connect()
  upload.socket.write('POST /app/upload HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab')
  await until('it began', () => rig.ingress.http.inFlight === 1)
  let isDrained = false
  const drained = rig.ingress.drain().then(() => (isDrained = true))
  t.is((await rig.get('/app/idle')).status, 503)
  t.false(isDrained)
  upload.socket.write('cd')
  t.regex(await upload.until(/"bytes":4/), /^HTTP\/1.1 200/)
  await drained
  t.is(streams(rig), 1)
  rig.events().write(':\n\ndata: still here\n\n')
  await stream.until(/still here/)
  rig.ingress.endMounted()
  await until('the stream is over', () => streams(rig) === 0)
  t.regex(await stream.until(/\r\n0\r\n/), /still here\n\n\r\n0\r\n\r\n$/)
  t.is(rig.left(), 1)
})

test('no more answers are streamed at once than the bound', async (t) => {
  const rig = await startApp(t)
  for (let at = 0; at < MOUNTED_STREAMS_MAX; at += 1) {
    rig.connect().socket.write('GET /app/events HTTP/1.1\r\nhost: x\r\n\r\n')
  }
  await until('all are streamed', () => streams(rig) === MOUNTED_STREAMS_MAX)
  t.is((await rig.get('/app/events')).status, 503)
  t.is((await rig.get('/app/idle')).status, 200)
  await until('the refused one was told', () => rig.left() === 1)
})

test('a head that node:http would refuse gets 400', async (t) => {
  const rig = await startApp(t)
  const raw = rig.connect()
  raw.socket.write('GET /app/中 HTTP/1.1\r\nhost: x\r\n\r\n')
  t.regex(await raw.until(/malformed/), /^HTTP\/1.1 400/)
})
