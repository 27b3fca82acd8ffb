// Method: a real ingress on a free port; sockets that send what a well-behaved client would not.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createHttp } from '#src/ingress/http'
import type { Exchange } from '#src/ingress/exchange'
import type { Head } from '#src/ingress/router'
import { JSON_TYPE } from '#src/ingress/reply'
import { success } from '#src/ingress/respond'
import { FakeTime } from '#test/support/fake-timers'
import { freePort } from '#test/support/free-port'
import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { THING } from '#test/support/pipeline-requests'
import { startIngress } from '#test/support/start-ingress'
import type { Raw } from '#test/support/start-ingress'

const MAX = 32_768

/** A thing update of exactly this many bytes. */
function bodyOf(bytes: number): string {
  const body = { ...CREDENTIALS, thing_id: 't', observed_at: NOW_MS, padding: '' }
  return JSON.stringify({ ...body, padding: 'x'.repeat(bytes - JSON.stringify(body).length) })
}

const requestHead = (more: string, path = '/thing/update'): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}\r\n\r\n`

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const statusOf = (received: string): string => /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 'none'

/** The received text once it has a whole answer. */
const answerOf = (raw: Raw): Promise<string> => raw.until(/\r\n\r\n.*\}$/s)

test('exchange/2: a body of 32768 bytes is accepted, one of 32769 is not', async (t) => {
  const { send, sink } = await startIngress(t)
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const fits = await send('/thing/update', { ...init, body: bodyOf(MAX) })
  t.is(fits.status, 200, fits.text)
  const beyond = await send('/thing/update', { ...init, body: bodyOf(MAX + 1) })
  t.is(beyond.status, 413)
  t.is(beyond.json['error_code'], 'body_too_large')
  t.is(sink.accepted.length, 1)
})

test('exchange/2: a declared size above the limit is refused before any of the body has come', async (t) => {
  const { connect } = await startIngress(t)
  const raw = connect()
  raw.socket.write(requestHead(`content-length: ${MAX + 1}`))
  t.is(statusOf(await answerOf(raw)), '413')
})

test('exchange/2: a chunked body is accepted up to the limit and refused as soon as it passes it', async (t) => {
  const { connect, ingress } = await startIngress(t)
  const fits = connect()
  const body = bodyOf(MAX)
  fits.socket.write(requestHead('transfer-encoding: chunked'))
  fits.socket.write(chunk(body.slice(0, 20_000)))
  fits.socket.write(`${chunk(body.slice(20_000))}0\r\n\r\n`)
  t.is(statusOf(await answerOf(fits)), '200')

  const beyond = connect()
  beyond.socket.write(requestHead('transfer-encoding: chunked'))
  beyond.socket.write(chunk('x'.repeat(MAX)))
  beyond.socket.write(chunk('x'))
  t.is(statusOf(await answerOf(beyond)), '413')
  t.is(ingress.http.bodyBytes, 0)
  t.is(ingress.http.inFlight, 0)
})

test('the rest of a body after a 413 is skipped, and the connection goes on', async (t) => {
  const { connect } = await startIngress(t)
  const raw = connect()
  raw.socket.write(requestHead(`content-length: ${MAX + 1}`))
  await answerOf(raw)
  raw.socket.write('x'.repeat(MAX + 1))
  raw.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  t.regex(await raw.until(/"status":"ok"/), /"status":"ok"/)
})

test('a body in many pieces is put together again', async (t) => {
  const { connect, sink } = await startIngress(t)
  const raw = connect()
  const body = JSON.stringify({
    ...CREDENTIALS,
    thing_id: 't',
    observed_at: NOW_MS,
    title: 'Straße 🌍',
  })
  raw.socket.setNoDelay(true)
  raw.socket.write(requestHead(`content-length: ${Buffer.byteLength(body)}`))
  for (const byte of Buffer.from(body)) {
    await new Promise((resolve) => raw.socket.write(Buffer.from([byte]), resolve))
  }
  t.is(statusOf(await answerOf(raw)), '200')
  t.like(sink.accepted[0], { patch: { fields: { title: 'Straße 🌍' } } })
})

test('exchange/3: a body that does not arrive in time is answered 408 and its connection closed', async (t) => {
  const { connect, time, ingress } = await startIngress(t)
  const raw = connect()
  raw.socket.write(`${requestHead('content-length: 100')}{"half":`)
  await started(() => ingress.http.bodyBytes > 0)
  time.advance(7_499)
  t.is(ingress.http.inFlight, 1)
  time.advance(1)
  const answer = await answerOf(raw)
  t.is(statusOf(answer), '408')
  t.regex(answer, /connection: close/i)
  await raw.ended
  t.is(ingress.http.inFlight, 0)
  t.is(ingress.http.bodyBytes, 0)
})

test('exchange/3: a clock that is set back gives no body more time', async (t) => {
  const { connect, time, ingress } = await startIngress(t)
  const raw = connect()
  raw.socket.write(`${requestHead('content-length: 100')}{"half":`)
  await started(() => ingress.http.bodyBytes > 0)
  time.set(-3_600_000)
  time.advance(7_500)
  t.is(statusOf(await answerOf(raw)), '408')
})

test('a body that is aborted leaves nothing behind and counts nothing', async (t) => {
  const { connect, ingress, meter, time, sink } = await startIngress(t)
  const raw = connect()
  raw.socket.write(`${requestHead('content-length: 100')}{"half":`)
  await started(() => ingress.http.bodyBytes > 0)
  raw.socket.destroy()
  await started(() => ingress.http.inFlight === 0)
  t.is(ingress.http.bodyBytes, 0)
  time.advance(60_000)
  t.deepEqual([...meter.totals], [])
  t.is(sink.accepted.length, 0)
})

test('exchange/1: a caller that leaves while its submission is appended harms nothing', async (t) => {
  const { connect, ingress, sink, get } = await startIngress(t)
  let release = (): void => {}
  const wait = new Promise<void>((resolve) => (release = resolve))
  sink.answer = async () => {
    await wait
    return { kind: 'accepted' }
  }
  const raw = connect()
  const body = bodyOf(500)
  raw.socket.write(requestHead(`content-length: ${body.length}`) + body)
  await started(() => ingress.http.inFlight === 1)
  raw.socket.destroy()
  await started(() => raw.socket.closed)
  await get('/healthz')
  release()
  await started(() => ingress.http.inFlight === 0)
  t.is(sink.accepted.length, 1)
})

test('draining answers requests in flight and refuses new ones', async (t) => {
  const rig = await startIngress(t)
  let release = (): void => {}
  const wait = new Promise<void>((resolve) => (release = resolve))
  rig.sink.answer = async () => {
    await wait
    return { kind: 'accepted' }
  }
  const first = rig.post('/thing/update', THING)
  await started(() => rig.ingress.http.inFlight === 1)
  let isDrained = false
  const drained = rig.ingress.drain().then(() => (isDrained = true))
  const alive = await rig.get('/healthz')
  t.is(alive.status, 200, 'the process lives')
  t.is(alive.headers.get('connection'), 'close')
  t.is((await rig.get('/readyz')).status, 503, 'and should get no new requests')
  const refused = await rig.post('/thing/update', THING)
  t.is(refused.status, 503)
  t.is(refused.json['error_code'], 'server_busy')
  t.is(refused.headers.get('retry-after'), '1')
  t.is(refused.headers.get('connection'), 'close')
  t.false(isDrained)
  release()
  t.is((await first).status, 200)
  await drained
})

test('draining an idle ingress is done at once', async (t) => {
  const { ingress } = await startIngress(t)
  await ingress.drain()
  t.pass()
})

test('applications/1: a taken port is refused with the reason', async (t) => {
  const { port } = await startIngress(t)
  const error = await t.throwsAsync(
    startIngress(t, { http: { host: '127.0.0.1', port } }).then(() => undefined),
  )
  t.is(error?.message, `cannot listen on 127.0.0.1 port ${port} (SERVICE_HTTP_ADDR): EADDRINUSE`)
})

// Method: a port that is named, because the library never shares one that the system chose.
test('applications/1: a port is not shared with another process either', async (t) => {
  const { port } = await startIngress(t, { http: { host: '127.0.0.1', port: await freePort(t) } })
  const code = `
    import { createHttp } from '#src/ingress/http'
    const timers = { after: () => () => {} }
    const http = createHttp({ tls: undefined, timers, monotonicMs: () => 0, bodyTimeoutMs: 1 })
    const bound = http.listen({ host: '127.0.0.1', port: ${port}, setting: 'SERVICE_HTTP_ADDR' })
    await bound.then(() => console.log('shared'), () => console.log('refused'))
    http.close()`
  const child = promisify(execFile)(process.execPath, [
    ...process.execArgv,
    '--input-type=module',
    '-e',
    code,
  ])
  t.is((await child).stdout.trim(), 'refused')
})

test('applications/1: processes that are to share a port do', async (t) => {
  const { port } = await startIngress(t, {
    http: { host: '127.0.0.1', port: await freePort(t) },
    isPortShared: true,
  })
  const code = `
    import { createHttp } from '#src/ingress/http'
    const timers = { after: () => () => {} }
    const isPortShared = true
    const http = createHttp({ tls: undefined, timers, clientAddress: () => '', monotonicMs: () => 0, bodyTimeoutMs: 1, isPortShared })
    await http.listen({ host: '127.0.0.1', port: ${port}, setting: 'SERVICE_HTTP_ADDR' })
    http.close()`
  await t.notThrowsAsync(
    promisify(execFile)(process.execPath, [...process.execArgv, '--input-type=module', '-e', code]),
  )
})

test('http/1: the head of a request cannot be read once its handler has returned', async (t) => {
  const { http, get } = await bareHttp(t)
  const kept: Head[] = []
  http.route('GET', '/', (head, exchange) => {
    kept.push(head)
    void exchange.reply(success({ host: head.header('host') }), 'r')
  })
  t.is(await get(), 200)
  const over = { message: 'the request is over' }
  t.throws(() => kept[0]?.header('host'), over)
  t.throws(() => kept[0]?.address, over)
})

test('exchange/1: a second answer to one request goes nowhere', async (t) => {
  const { http, get } = await bareHttp(t)
  const kept: Exchange[] = []
  http.route('GET', '/', (_head, exchange) => {
    kept.push(exchange)
    void exchange.reply(success({}), 'r')
  })
  t.is(await get(), 200)
  void kept[0]?.reply({ status: 500, contentType: JSON_TYPE, headers: [], body: '' }, 'r')
  t.is(http.inFlight, 0)
})

test('exchange/2: all bodies in the making together are bounded', async (t) => {
  const { connect, ingress } = await startIngress(t)
  Object.assign(ingress.http, { bodyBytes: 64 * 1024 * 1024 - 7 })
  const raw = connect()
  raw.socket.write(`${requestHead('content-length: 100')}{"half":`)
  t.is(statusOf(await answerOf(raw)), '503')
  t.is(ingress.http.bodyBytes, 64 * 1024 * 1024 - 7)
})

test('an unknown method is answered 405 with Allow', async (t) => {
  const { connect } = await startIngress(t)
  const raw = connect()
  raw.socket.write('BREW /message HTTP/1.1\r\nhost: x\r\n\r\n')
  const answer = await raw.until(/\}$/)
  t.is(statusOf(answer), '405')
  t.regex(answer, /allow: POST, GET\r\n[^]*"method_not_allowed"/)
})

/** Only http.ts, without the routes of the gateway. */
async function bareHttp(t: ExecutionContext) {
  const time = new FakeTime(0)
  const http = createHttp({
    tls: undefined,
    timers: time,
    monotonicMs: time.monotonicMs,
    clientAddress: (source) => source.socketAddress(),
    bodyTimeoutMs: 1,
  })
  const port = await http.listen({ host: '127.0.0.1', port: 0, setting: 'SERVICE_HTTP_ADDR' })
  t.teardown(() => http.close())
  return { http, get: async () => (await fetch(`http://127.0.0.1:${port}/`)).status }
}

/** Lets sockets get on until something has happened, for thirty seconds at most. */
async function started(hasHappened: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 30_000
  while (!hasHappened()) {
    if (performance.now() > giveUpAt) throw new Error('it did not happen')
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
