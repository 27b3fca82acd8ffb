// Goal: a body has a size and a time, whatever a client sends of it.
// Method: a real ingress on a free port; sockets that send what a well-behaved client would not.

import test from 'ava'

import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { answerOf, requestHead, statusOf, updateOf } from '#test/support/raw-update'
import { startIngress } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const MAX = 32_768

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

test('exchange/2: a body of 32768 bytes is accepted, one of 32769 is not', async (t) => {
  const { send, sink } = await startIngress(t)
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const fits = await send('/thing/update', { ...init, body: updateOf(MAX) })
  t.is(fits.status, 200, fits.text)
  const beyond = await send('/thing/update', { ...init, body: updateOf(MAX + 1) })
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
  const body = updateOf(MAX)
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
  await until('half of the body has come', () => ingress.http.bodyBytes > 0)
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
  await until('half of the body has come', () => ingress.http.bodyBytes > 0)
  time.set(-3_600_000)
  time.advance(7_500)
  t.is(statusOf(await answerOf(raw)), '408')
})

test('a body that is aborted leaves nothing behind and counts nothing', async (t) => {
  const { connect, ingress, meter, time, sink } = await startIngress(t)
  const raw = connect()
  raw.socket.write(`${requestHead('content-length: 100')}{"half":`)
  await until('half of the body has come', () => ingress.http.bodyBytes > 0)
  raw.socket.destroy()
  await until('the request is over', () => ingress.http.inFlight === 0)
  t.is(ingress.http.bodyBytes, 0)
  time.advance(60_000)
  t.deepEqual([...meter.totals], [])
  t.is(sink.accepted.length, 0)
})

test('exchange/2: all bodies in the making together are bounded', async (t) => {
  const { connect, ingress } = await startIngress(t)
  Object.assign(ingress.http, { bodyBytes: 64 * 1024 * 1024 - 7 })
  const raw = connect()
  raw.socket.write(`${requestHead('content-length: 100')}{"half":`)
  t.is(statusOf(await answerOf(raw)), '503')
  t.is(ingress.http.bodyBytes, 64 * 1024 * 1024 - 7)
})

test('a body with a Content-Encoding is refused by name, and identity is none', async (t) => {
  const { send, sink } = await startIngress(t)
  const post = (encoding: string) =>
    send('/thing/update', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body: updateOf(1_000),
    })
  for (const encoding of ['gzip', 'br', 'identity, gzip']) {
    const refused = await post(encoding)
    t.is(refused.status, 415)
    t.is(refused.json['error_code'], 'unsupported_media_type')
    t.regex(refused.text, /without Content-Encoding/)
  }
  t.is(sink.accepted.length, 0)
  t.is((await post('Identity')).status, 200)
})
