// Goal: HEAD is GET without the body. Method: raw sockets, because fetch hides what is wrong here: a
// body that must not come would be taken for the next answer.

import test from 'ava'

import { routeTable } from '#src/ingress/routes'
import type { TablePorts } from '#src/ingress/routes'
import { startIngress } from '#test/support/start-ingress'

const requestOf = (method: string, path: string): string =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-request-id: r\r\n\r\n`

const HEAD_END = '\r\n\r\n'

/** The lines of an answer's head, without those of the moment. */
const linesOf = (answer: string): readonly string[] =>
  (answer.toLowerCase().split(HEAD_END)[0] ?? '')
    .split('\r\n')
    .filter((line) => !line.startsWith('date:'))
    .sort()

const GET_PATHS = routeTable({ acceptance: {}, probes: [] as const } as unknown as TablePorts)
  .filter(({ methods, path }) => methods.includes('GET') && path !== '/message')
  .map(({ path }) => path.replace(/\{\w+\}/g, 'unknown'))

test('HEAD has the head of GET, also its length, and no body', async (t) => {
  const rig = await startIngress(t)
  t.true(GET_PATHS.length >= 9)
  for (const path of GET_PATHS) {
    const whole = rig.connect()
    whole.socket.write(requestOf('GET', path))
    const got = await whole.until(/\r\n\r\n.+/s)
    const raw = rig.connect()
    raw.socket.write(requestOf('HEAD', path))
    const head = await raw.until(/\r\n\r\n/)
    t.deepEqual(linesOf(head), linesOf(got), path)
    // The connection goes on: the next thing on it is the next answer.
    raw.socket.write(requestOf('GET', '/healthz'))
    const both = await raw.until(/"status":"ok"/)
    t.regex(both.slice(head.length), /^HTTP\/1\.1 200 OK\r\n/, path)
  }
  t.is(rig.ingress.http.inFlight, 0)
})

test('HEAD tells the length of the body in bytes', async (t) => {
  const rig = await startIngress(t)
  const { text } = await rig.get('/openapi.json')
  const raw = rig.connect()
  raw.socket.write(requestOf('HEAD', '/openapi.json'))
  const [, length] = /content-length: (\d+)\r\n/i.exec(await raw.until(/\r\n\r\n/)) ?? []
  t.is(Number(length), Buffer.byteLength(text))
})

test('HEAD does not send the Message that GET /message would send', async (t) => {
  const rig = await startIngress(t)
  const raw = rig.connect()
  raw.socket.write(requestOf('HEAD', '/message?title=x'))
  const answer = await raw.until(/\r\n\r\n/)
  t.regex(answer, /^HTTP\/1\.1 405 /)
  t.regex(answer, /allow: POST, GET\r\n/)
  t.true(answer.endsWith(HEAD_END))
  t.is(rig.sink.accepted.length, 0)
})

test('a HEAD while draining tells its caller to close the connection', async (t) => {
  const rig = await startIngress(t)
  await rig.ingress.drain()
  const raw = rig.connect()
  raw.socket.write(requestOf('HEAD', '/healthz'))
  const answer = await raw.until(/\r\n\r\n/)
  t.regex(answer, /^HTTP\/1\.1 200 [^]*connection: close\r\n/i)
  t.true(answer.endsWith(HEAD_END))
  t.is(rig.ingress.http.inFlight, 0)
})

const REFUSED_BY_PARSER: readonly (readonly [status: number, request: string])[] = [
  [505, 'GET /healthz HTTP/1.0\r\nhost: x\r\n\r\n'],
  [431, `GET /healthz HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(16_384)}\r\n\r\n`],
  [400, 'GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: a\r\n\r\n'],
]

test('HTTP/1.0, a long head and a malformed one are refused by the library, as documents say', async (t) => {
  const rig = await startIngress(t)
  for (const [status, request] of REFUSED_BY_PARSER) {
    const raw = rig.connect()
    raw.socket.write(request)
    t.regex(await raw.until(/<\/i>$/), new RegExp(`^HTTP/1\\.1 ${status} `))
  }
  t.is(rig.ingress.http.inFlight, 0)
})
