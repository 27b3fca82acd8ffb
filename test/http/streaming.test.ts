// Goal: a stream goes out as its reader takes it, and one that fails does not look whole.
// Method: an outlet that the test fills, and WebSockets whose reader stops reading.

import { connect } from 'node:net'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { App } from 'uWebSockets.js'

import { clientAddress } from '#src/http/client-address'
import { createHttp } from '#src/http/http'
import { Streaming, httpParts } from '#src/http/streaming'
import { GATHERED_BYTES } from '#src/http/unread'
import { handshakeOf, outletOf, socketBehavior, upgrade } from '#src/http/websocket'
import type { SocketData, StreamedSocket } from '#src/http/websocket'
import { FakeTime } from '#test/support/fake-timers'
import { RawWebSocket } from '#test/support/raw-websocket'
import { realRuntime } from '#test/support/real-runtime'
import { turn, until } from '#test/support/until'
import { listen } from '#test/support/wss-server'

const UNSPLIT = {
  parts: (chunk: string | Uint8Array) => [chunk],
  holds: () => undefined,
}

/** A stream of three chunks, the last of which may fail, to an outlet that is always full. */
async function started({ fails = false } = {}) {
  const streaming = new Streaming()
  const heard: string[] = []
  const controllers = new Set<AbortController>()
  async function* open() {
    for (const chunk of ['a', 'b', 'c']) {
      if (fails && chunk === 'c') throw new Error('it broke')
      yield await Promise.resolve(chunk)
    }
  }
  const write = (chunk: string | Uint8Array): boolean => heard.push(String(chunk)) === 0
  const outlet = { ...UNSPLIT, write, end: () => heard.push('end'), cut: () => heard.push('cut') }
  const done = streaming.run({ open }, outlet, controllers)
  await turn()
  return { streaming, heard, controllers, done }
}

type Started = Awaited<ReturnType<typeof started>>

/** Takes the last chunk, so that the stream goes on. */
async function taken({ streaming, heard }: Started): Promise<string> {
  streaming.flow()
  for (let turns = 0; turns < 10; turns += 1) await turn()
  return heard.join('')
}

test('streaming/1: each chunk waits until its reader has taken the one before', async (t) => {
  const stream = await started()
  t.is(stream.heard.join(''), 'a')
  for (const expected of ['ab', 'abc', 'abcend']) t.is(await taken(stream), expected)
  t.is(stream.controllers.size, 0)
})

test('streaming/1: nothing is written to a reader that is gone', async (t) => {
  const stream = await started()
  const [controller] = stream.controllers
  stream.streaming.stop()
  t.true(controller?.signal.aborted)
  await stream.done
  t.is(await taken(stream), 'a')
})

test('streaming/2: a stream that fails is cut off', async (t) => {
  const stream = await started({ fails: true })
  t.is(await taken(stream), 'ab')
  const failed = t.throwsAsync(stream.done, { message: 'it broke' })
  t.is(await taken(stream), 'abcut')
  await failed
})

/** Bytes of a chunk, and the bytes that a connection has sent whenever it tells that it has. */
const PACES = [
  [10, 2_048],
  [65_536, 2_048],
  [1_000_000, 2_048],
  [1_000_000, 5_000],
] as const

for (const [bytes, paceBytes] of PACES) {
  test(`streaming/3, streaming/4: chunks of ${bytes} bytes pile up in no connection that sends ${paceBytes} at a time`, (t) => {
    const written: (string | Uint8Array)[] = []
    let held = 0
    for (let chunk = 0; chunk < 3; chunk += 1) {
      for (const part of httpParts('x'.repeat(bytes), () => held > 0)) {
        written.push(part)
        t.true(part.length <= GATHERED_BYTES) // streaming/4
        held = Math.max(0, held + part.length - paceBytes)
        t.true(held <= GATHERED_BYTES)
      }
    }
    t.is(Buffer.concat(written.map((part) => Buffer.from(part))).length, 3 * bytes)
  })
}

test('streaming/3: what a connection holds goes out when it can, also while the stream waits', async (t) => {
  const part = 'x'.repeat(GATHERED_BYTES)
  const whole = await answering(t, part, Infinity)
  await until('the connection is full', () => whole.http.unread.bytes > 0)
  t.true(whole.made() > 4)
  // The library holds some of the last part, or of one of those before it, of which nobody is told.
  for (let parts = whole.made() - 4; parts <= whole.made(); parts += 1) {
    const { http, raw, made } = await answering(t, part, parts)
    const isFull = () => http.unread.bytes > 0 // Not every connection takes as much.
    await until('every part is written', () => made() === parts || isFull())
    let read = 0
    raw.on('data', (bytes) => (read += String(bytes).replaceAll(/[^x]/g, '').length))
    raw.resume()
    await until('every part has come', () => read >= parts * GATHERED_BYTES)
  }
})

/** The answer of so many parts to a reader that does not read, which then has no end. */
async function answering(t: ExecutionContext, part: string, parts: number) {
  const time = new FakeTime(0)
  const { monotonicMs } = time
  const http = createHttp({
    tls: undefined,
    timers: time,
    monotonicMs,
    clientAddress: clientAddress([]),
    bodyTimeoutMs: 1,
  })
  t.teardown(() => http.close())
  let made = 0
  async function* open() {
    for (; made < parts; made += 1) yield await Promise.resolve(part)
    await new Promise(() => undefined)
  }
  http.route('GET', '/', (_head, exchange) => {
    const reply = { status: 200, contentType: undefined, headers: [], body: { open } }
    exchange.reply(reply, 'r')?.catch(() => undefined)
  })
  const port = await http.listen({ host: '127.0.0.1', port: 0, setting: 'SERVICE_HTTP_ADDR' })
  const raw = connect(port, '127.0.0.1').pause()
  t.teardown(() => raw.destroy())
  raw.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  return { http, raw, made: () => made }
}

const CHUNK = 'x'.repeat(65_536)

/** A WebSocket whose reader reads nothing until it is told to. */
async function unread(t: ExecutionContext) {
  const sockets: StreamedSocket[] = []
  let closed = 0
  const behavior = socketBehavior(realRuntime)
  const app = App().ws<SocketData>('/private/ws', {
    ...behavior,
    upgrade: (response, request, context) =>
      void sockets.push(upgrade(response, handshakeOf(request, context))),
    close: (ws) => {
      closed += 1
      behavior.close(ws)
    },
  })
  t.teardown(() => app.close())
  let read = 0
  const url = `ws://127.0.0.1:${await listen(app)}/private/ws`
  const reader = await RawWebSocket.open(url, () => (read += 1))
  t.teardown(() => reader.socket.destroy())
  reader.socket.pause()
  const [socket] = sockets
  if (socket === undefined) throw new Error('there is no socket')
  return { socket, reader, read: () => read, closed: () => closed }
}

test('websocket/2: a stream waits for a reader that does not read, and goes on with it', async (t) => {
  const { socket, reader, read } = await unread(t)
  let made = 0
  async function* open() {
    for (; made < 200; made += 1) yield await Promise.resolve(CHUNK)
  }
  const done = socket.streaming.run({ open }, { ...outletOf(socket), ...UNSPLIT }, new Set())
  await until('bytes are held', () => (socket.ws?.getBufferedAmount() ?? 0) > 0)
  for (let turns = 0; turns < 100; turns += 1) await turn()
  t.true(made < 200)
  reader.socket.resume()
  await done
  await until('everything has arrived', () => read() === 200)
})

test('websocket/2: a socket for which too much is held is cut', async (t) => {
  const { socket, closed } = await unread(t)
  const outlet = outletOf(socket)
  for (let sent = 0; sent < 400; sent += 1) outlet.write(CHUNK)
  t.true((socket.ws?.getBufferedAmount() ?? 0) < 2 ** 21)
  await until('it is cut', () => closed() === 1)
})

test('websocket/1: a socket is not used after its close event', async (t) => {
  const { socket, reader, closed } = await unread(t)
  const more = Promise.withResolvers<void>()
  async function* open() {
    yield 'a'
    await more.promise
    yield 'b'
  }
  const done = socket.streaming.run({ open }, { ...outletOf(socket), ...UNSPLIT }, new Set())
  reader.socket.destroy()
  await until('it is closed', () => closed() === 1)
  more.resolve()
  await t.notThrowsAsync(done)
})
