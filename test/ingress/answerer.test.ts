// Goal: documents and streams over real sockets.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { fault } from '#domain/fault'
import { DOCUMENT, IF_NONE_MATCH, STREAM, imitation } from '#src/ingress/answerer'
import type { StreamData } from '#src/ingress/answerer'
import { get } from '#src/ingress/row'
import type { Row } from '#src/ingress/row'
import { startIngress } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const about = { tag: 'Test', summary: 'Test' }

const withRows = (t: ExecutionContext, ...rows: readonly Row[]) =>
  startIngress(t, { styles: [() => rows] })

const image = get('/image', {
  headers: [IF_NONE_MATCH],
  handle: () => ({
    contentType: 'image/png',
    body: Uint8Array.of(0, 255, 7),
    etag: '"v1"',
    cache: 'max-age=60',
  }),
  answerer: DOCUMENT,
  about,
})

test('a document has its type, its etag and its cache, byte by byte', async (t) => {
  const { url } = await withRows(t, image)
  const response = await fetch(`${url}/image`)
  t.is(response.status, 200)
  t.deepEqual([...new Uint8Array(await response.arrayBuffer())], [0, 255, 7])
  t.is(response.headers.get('content-type'), 'image/png')
  t.is(response.headers.get('etag'), '"v1"')
  t.is(response.headers.get('cache-control'), 'max-age=60')
  t.regex(response.headers.get('x-request-id') ?? '', /^[0-9a-f]{32}$/)
})

const matches: readonly (readonly [ifNoneMatch: string, status: number])[] = [
  ['"v1"', 304],
  ['W/"v1"', 304],
  ['"v0", "v1"', 304],
  ['*', 304],
  ['"v0"', 200],
  ['v1', 200],
]

for (const [ifNoneMatch, status] of matches) {
  test(`a caller that has ${ifNoneMatch} gets ${status}`, async (t) => {
    const { connect } = await withRows(t, image)
    const raw = connect()
    raw.socket.write(`GET /image HTTP/1.1\r\nhost: x\r\nif-none-match: ${ifNoneMatch}\r\n\r\n`)
    const answer = await raw.until(/\r\n\r\n/)
    t.true(answer.startsWith(`HTTP/1.1 ${status} `), answer)
    if (status === 200) return
    t.true(answer.endsWith('\r\n\r\n'), 'no body')
    // The connection goes on: the next thing on it is the next answer.
    raw.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    t.regex((await raw.until(/"ok"/)).slice(answer.length), /^HTTP\/1\.1 200 OK\r\n/)
  })
}

test('pipeline/2: a defect in an answerer is answered in the envelope', async (t) => {
  const { get: ask, logger } = await withRows(
    t,
    get('/broken', {
      handle: () => fault('entity_not_found'),
      answerer: imitation({
        success: () => ({ contentType: 'text/plain', body: '' }),
        failure: () => {
          throw new Error('no shape')
        },
      }),
      about,
    }),
  )
  const answer = await ask('/broken')
  t.is(answer.status, 500)
  t.is(answer.json['error_code'], 'internal_error')
  t.true(logger.lines.length > 0)
})

/** A row that streams what `open` makes. */
const streamed = (open: StreamData['open']): Row =>
  get('/stream', { handle: () => ({ contentType: 'text/plain', open }), answerer: STREAM, about })

test('a stream is sent piece by piece while it is made', async (t) => {
  const next = Promise.withResolvers<void>()
  const { connect, ingress } = await withRows(
    t,
    streamed(async function* () {
      yield 'first '
      await next.promise
      yield Buffer.from('second')
    }),
  )
  const raw = connect()
  raw.socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n')
  t.notRegex(await raw.until(/first/), /second/)
  t.is(ingress.http.inFlight, 1)
  next.resolve()
  t.regex(await raw.until(/\r\n0\r\n/), /second/)
  await until('it is over', () => ingress.http.inFlight === 0)
})

test('exchange/4: a stream waits for a reader that is slow, and ends with it', async (t) => {
  let made = 0
  let isAborted = false
  let isReturned = false
  const { connect, ingress } = await withRows(
    t,
    streamed(async function* (signal) {
      signal.addEventListener('abort', () => (isAborted = true))
      try {
        for (;;) {
          made += 1
          yield 'x'.repeat(100_000)
        }
      } finally {
        isReturned = true
      }
    }),
  )
  const raw = connect()
  raw.socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n')
  await raw.until(/x/)
  raw.socket.pause()
  let before = -1
  await until('it waits', () => {
    const isStill = made === before
    before = made
    return isStill
  })
  t.true(made < 500, `${made} pieces are held for a caller that reads nothing`)
  raw.socket.resume()
  await until('it goes on', () => made > before)
  raw.socket.destroy()
  await until('it has ended', () => isReturned && ingress.http.inFlight === 0)
  t.true(isAborted)
})

test('exchange/4: streams end when the gateway drains', async (t) => {
  const { connect, ingress } = await withRows(
    t,
    streamed(async function* (signal) {
      yield 'begin'
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      yield 'end'
    }),
  )
  const raw = connect()
  raw.socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n')
  await raw.until(/begin/)
  await ingress.drain()
  t.regex(await raw.until(/\r\n0\r\n/), /\r\n3\r\nend\r\n0\r\n\r\n$/)
})

test('a stream that fails is cut off, so that it does not look whole, and logged', async (t) => {
  const { connect, ingress, logger } = await withRows(
    t,
    streamed(async function* () {
      yield 'begin'
      await Promise.reject(new Error('a defect'))
    }),
  )
  const raw = connect()
  raw.socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n')
  await raw.ended
  t.notRegex(raw.received(), /\r\n0\r\n/)
  t.is(ingress.http.inFlight, 0)
  t.is(logger.lines.filter(({ level }) => level === 'error').length, 1)
})

test('HEAD of a stream begins nothing', async (t) => {
  let isBegun = false
  const { connect, ingress } = await withRows(
    t,
    streamed(async function* () {
      isBegun = true
      yield 'x'
    }),
  )
  const raw = connect()
  raw.socket.write('HEAD /stream HTTP/1.1\r\nhost: x\r\n\r\n')
  t.regex(await raw.until(/\r\n\r\n/), /^HTTP\/1\.1 200 OK\r\n/)
  t.false(isBegun)
  t.is(ingress.http.inFlight, 0)
})

test('/openapi.json is made once, and a caller that has it gets 304', async (t) => {
  let made = 0
  const told = {
    tag: 'Test',
    get summary(): string {
      made += 1
      return 'Test'
    },
  }
  const { get: ask } = await withRows(t, { ...image, about: told })
  const first = await ask('/openapi.json?styles=1')
  const etag = first.headers.get('etag') ?? ''
  t.regex(etag, /^"[\w-]+-gzip"$/)
  t.is((await ask('/openapi.json?styles=1')).headers.get('etag'), etag)
  t.is((await ask('/openapi.json?styles=1', { 'if-none-match': etag })).status, 304)
  t.is(made, 1)
})
