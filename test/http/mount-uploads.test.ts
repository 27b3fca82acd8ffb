// Goal: bodies reach a mounted handler as it reads them, within the limits of its row.

import test from 'ava'

import { ARRIVING_BYTES_MAX, ArrivingBody } from '#src/http/arriving-body'
import { Deadlines } from '#src/http/deadlines'
import { FakeTime } from '#test/support/fake-timers'
import { UPLOAD_BYTES_MAX, startApp } from '#test/support/mounted-app'
import { until } from '#test/support/until'

for (const [form, body] of [
  ['of a known length', () => Buffer.alloc(UPLOAD_BYTES_MAX, 'y')],
  ['in chunks', () => new Blob([Buffer.alloc(UPLOAD_BYTES_MAX, 'y')]).stream()],
] as const) {
  test(`an upload ${form} up to the limit of the row arrives whole`, async (t) => {
    const rig = await startApp(t)
    const headers = { 'content-type': 'image/png' }
    const init = { method: 'PUT', body: body(), headers, duplex: 'half' as const }
    const { status, json } = await rig.send('/app/upload', init)
    t.is(status, 200)
    t.deepEqual(json, { bytes: UPLOAD_BYTES_MAX, type: 'image/png', method: 'PUT' })
    t.is(rig.ingress.http.bodyBytes, 0)
  })
}

test('an upload one byte beyond the limit gets 413, with or without a Content-Length', async (t) => {
  const rig = await startApp(t)
  const body = Buffer.alloc(UPLOAD_BYTES_MAX + 1)
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

test('arriving-body/1, arriving-body/3: a handler that does not read holds the caller back', async (t) => {
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
