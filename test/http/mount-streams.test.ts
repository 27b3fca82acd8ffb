// Goal: what a mounted handler streams arrives as it is written, and ends with its caller or the
// gateway.

import { once } from 'node:events'

import test from 'ava'

import { MOUNTED_STREAMS_MAX } from '#src/http/traffic'
import { startApp, streams } from '#test/support/mounted-app'
import { until } from '#test/support/until'

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

test('exchange/6: a mount streams a bounded number of answers at once', async (t) => {
  const rig = await startApp(t)
  for (let at = 0; at < MOUNTED_STREAMS_MAX; at += 1) {
    rig.connect().socket.write('GET /app/events HTTP/1.1\r\nhost: x\r\n\r\n')
  }
  await until('all are streamed', () => streams(rig) === MOUNTED_STREAMS_MAX)
  const beyond = rig.connect()
  beyond.socket.write('GET /app/events HTTP/1.1\r\nhost: x\r\n\r\n')
  t.regex(await beyond.until(/\r\n\r\n/), /^HTTP\/1.1 503/)
  t.is((await rig.get('/app/idle')).status, 200)
  await until('the refused one was told', () => rig.left() === 1)
})
