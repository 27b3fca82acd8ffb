// Goal: a stream goes out as its reader takes it, and one that fails does not look whole.
// Method: an outlet that the test fills, and WebSockets whose reader stops reading.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { App } from 'uWebSockets.js'

import { Streaming, httpParts } from '#src/http/streaming'
import { handshakeOf, outletOf, socketBehavior, upgrade } from '#src/http/websocket'
import type { SocketData, StreamedSocket } from '#src/http/websocket'
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
  test(`streaming/3: chunks of ${bytes} bytes pile up in no connection that sends ${paceBytes} at a time`, (t) => {
    const written: (string | Uint8Array)[] = []
    let held = 0
    for (let chunk = 0; chunk < 3; chunk += 1) {
      for (const part of httpParts('x'.repeat(bytes), () => held > 0)) {
        written.push(part)
        held = Math.max(0, held + part.length - paceBytes)
        t.true(held <= 65_536)
      }
    }
    t.is(Buffer.concat(written.map((part) => Buffer.from(part))).length, 3 * bytes)
  })
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
