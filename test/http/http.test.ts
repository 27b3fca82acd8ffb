// Method: a real ingress on a free port; sockets that send what a well-behaved client would not.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { clientAddress } from '#src/http/client-address'
import { createHttp } from '#src/http/http'
import type { Exchange } from '#src/http/exchange'
import type { Head } from '#src/http/router'
import { JSON_TYPE } from '#src/http/reply'
import { success } from '#src/ingress/answerer'
import { FakeTime } from '#test/support/fake-timers'
import { THING } from '#test/support/pipeline-requests'
import { requestHead, statusOf, updateOf } from '#test/support/raw-update'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'
import { until } from '#test/support/until'

test('exchange/1: a caller that leaves while its submission is appended harms nothing', async (t) => {
  const rig = await startIngress(t)
  const { connect, ingress, sink, get } = rig
  const append = heldAppend(rig)
  const raw = connect()
  const body = updateOf(500)
  raw.socket.write(requestHead(`content-length: ${body.length}`) + body)
  await append.isReached()
  raw.socket.destroy()
  await until('the socket is closed', () => raw.socket.closed)
  await get('/healthz')
  append.finish()
  await until('the request is over', () => ingress.http.inFlight === 0)
  t.is(sink.accepted.length, 1)
})

test('draining answers requests in flight and refuses new ones', async (t) => {
  const rig = await startIngress(t)
  const append = heldAppend(rig)
  const first = rig.post('/thing/update', THING)
  await append.isReached()
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
  append.finish()
  t.is((await first).status, 200)
  await drained
})

test('draining an idle ingress is done at once', async (t) => {
  const { ingress } = await startIngress(t)
  await ingress.drain()
  t.pass()
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
    clientAddress: clientAddress([]),
    bodyTimeoutMs: 1,
  })
  const port = await http.listen({ host: '127.0.0.1', port: 0, setting: 'SERVICE_HTTP_ADDR' })
  t.teardown(() => http.close())
  return { http, get: async () => (await fetch(`http://127.0.0.1:${port}/`)).status }
}

/** Appends last until the test lets them finish. */
function heldAppend({ sink, ingress }: Rig) {
  const held = Promise.withResolvers<void>()
  sink.answer = async () => {
    await held.promise
    return { kind: 'accepted' }
  }
  const isReached = () => until('a request is in flight', () => ingress.http.inFlight === 1)
  return { isReached, finish: held.resolve }
}
