// Method: a real uWebSockets.js application on a port that the system chose, real sockets, a store
// in memory.

import test from 'ava'

import { once } from 'node:events'
import { connect } from 'node:net'

import { App } from 'uWebSockets.js'
import type { ExecutionContext } from 'ava'

import type { Carrier, SessionHandle } from '#src/transports/carrier'
import { WINDOW_BYTES_MAX } from '#src/transports/signals'
import { ConnectionLimits } from '#src/doors/connection-limits'
import { createWssListener } from '#src/transports/carriers/wss'
import { FakeMeter } from '#test/support/fake-telemetry'
import { KEY, channel } from '#test/support/session-words'
import { until } from '#test/support/until'
import { ENDPOINT, MANY, listen, serveWss } from '#test/support/wss-server'

const A = channel('A')

/** A client socket that writes down what it hears. */
class Socket {
  readonly heard: string[] = []
  closedWith: number | undefined
  readonly #ws: WebSocket

  constructor(url: string, protocol = 'heliograph.v1') {
    this.#ws = new WebSocket(url, protocol)
    this.#ws.addEventListener('message', ({ data }) => this.heard.push(String(data)))
    this.#ws.addEventListener('close', ({ code }) => {
      this.closedWith = code
    })
  }

  async opened(): Promise<this> {
    await until('the socket is open', () => this.#ws.readyState === WebSocket.OPEN)
    return this
  }

  say(frame: object | Uint8Array<ArrayBuffer> | string): void {
    const isRaw = typeof frame === 'string' || frame instanceof Uint8Array
    this.#ws.send(isRaw ? frame : JSON.stringify(frame))
  }

  close(): void {
    this.#ws.close()
  }

  async hears(part: string): Promise<void> {
    await until(`"${part}" arrives`, () => this.heard.some((text) => text.includes(part)))
  }

  async ends(): Promise<number> {
    await until('the socket is closed', () => this.closedWith !== undefined)
    return this.closedWith ?? 0
  }
}

const HELLO = { type: 'hello', device_key: KEY }

test('a device gets announced entries, acknowledges them, and leaves', async (t) => {
  const { url, bus, model, sessions } = await serveWss(t)
  const socket = await new Socket(url).opened()
  socket.say(HELLO)
  await socket.hears('caught_up')
  bus.announce([model.commitMessage(A, { title: 'héllo' })])
  await socket.hears('"payload":{"title":"héllo"}')
  socket.say({ type: 'ack', channel_id: A, seq: 1 })
  socket.say({ type: 'ping', t: 5 })
  await socket.hears('{"type":"pong","t":5}')
  socket.close()
  await until('the session is gone', () => sessions.count() === 0)
  t.is(bus.listening(A), 0)
})

test('upgrade/1: the header of the upgrade carries the gateway token', async (t) => {
  const { port } = await serveWss(t, 'the-token')
  const { socket, text } = await rawSocket(port, [OURS, 'Authorization: Bearer the-token'])
  t.teardown(() => socket.destroy())
  socket.write(maskedFrame(HELLO))
  await until('it is welcomed', () => text().includes('"type":"welcome"'))
  t.regex(text(), /101 Switching Protocols/)
  t.regex(text(), /sec-websocket-protocol: heliograph\.v1/i)
})

test('a session without the gateway token ends', async (t) => {
  const { url } = await serveWss(t, 'the-token')
  const socket = await new Socket(url).opened()
  socket.say(HELLO)
  t.is(await socket.ends(), 1008)
  t.regex(socket.heard[0] ?? '', /authentication_failed/)
})

test('the given function refuses an upgrade without the subprotocol', async (t) => {
  const { port, sessions } = await serveWss(t)
  for (const header of [[], ['Sec-WebSocket-Protocol: other, heliograph.v2']]) {
    const { socket, text } = await rawSocket(port, header)
    await until('the whole answer is here', () => text().includes('missing_websocket_subprotocol'))
    socket.destroy()
    t.regex(text(), /^HTTP\/1\.1 400 /)
  }
  t.is(sessions.count(), 0)
})

test('binary frames end the session', async (t) => {
  const { url } = await serveWss(t)
  const socket = await new Socket(url).opened()
  socket.say(new Uint8Array([1]))
  t.is(await socket.ends(), 1003)
})

test('a frame of 64 KiB is read, a longer one ends the session with an error that says so', async (t) => {
  const { url } = await serveWss(t)
  const socket = await new Socket(url).opened()
  socket.say(HELLO)
  await socket.hears('welcome')
  const padded = (bytes: number): string => {
    const bare = JSON.stringify({ type: 'ping', t: 1, x: 'é' }).length + 1
    return JSON.stringify({ type: 'ping', t: 1, x: `é${'x'.repeat(bytes - bare)}` })
  }
  socket.say(padded(65_536))
  await socket.hears('pong')
  socket.say(padded(65_537))
  t.is(await socket.ends(), 1009)
  t.regex(socket.heard.at(-1) ?? '', /"type":"error","code":"body_too_large"/)
})

test('a frame of more than twice 64 KiB cuts the connection', async (t) => {
  const { url } = await serveWss(t)
  const socket = await new Socket(url).opened()
  socket.say('x'.repeat(2 * 65_536 + 1))
  t.is(await socket.ends(), 1006)
})

test('the session waits for a device that does not read, then sends the rest from the feed', async (t) => {
  const { port, bus, model, meter } = await serveWss(t)
  const big = { title: 'x'.repeat(100_000) }
  const { socket: slow, text } = await rawSocket(port, [OURS])
  t.teardown(() => slow.destroy())
  slow.write(maskedFrame(HELLO))
  await until('it has caught up', () => text().includes('caught_up'))
  slow.pause()
  // More than the kernel's buffers hold, acknowledged without being read.
  for (let seq = 1; seq <= 1_000 && buffered(meter) === 0; seq += 1) {
    bus.announce([model.commitMessage(A, big)])
    slow.write(maskedFrame({ type: 'ack', channel_id: A, seq }))
    await until('it is taken', () => behind(meter) === 0 || buffered(meter) > 0)
  }
  t.true(buffered(meter) > 0)
  for (let seq = 0; seq < 30; seq += 1) bus.announce([model.commitMessage(A, big)])
  t.is(behind(meter), 1)
  t.true(buffered(meter) < 4_194_304)
  slow.resume()
  await until('it has drained', () => buffered(meter) === 0)
  slow.write(maskedFrame({ type: 'ack', channel_id: A, seq: model.channel(A).headSeq - 25 }))
  await until('it gets the next from the feed', () => meter.total('deliveries_total{replay}') > 0)
})

/** An endpoint without sessions: gives the carriers that are opened. */
async function serveCarriers(t: ExecutionContext) {
  const carriers: Carrier[] = []
  const closed: Carrier[] = []
  const open = (carrier: Carrier): SessionHandle => {
    carriers.push(carrier)
    const nothing = (): void => {}
    return {
      receive: nothing,
      broken: nothing,
      drained: nothing,
      closed: () => closed.push(carrier),
    }
  }
  const app = App()
  const port = await createWssListener({
    ...ENDPOINT,
    host: { mount: (apply) => apply(app), listen: () => listen(app) },
    open,
    limits: new ConnectionLimits('wss', MANY, new FakeMeter()),
  }).listen()
  t.teardown(() => app.close())
  return { port, carriers, closed }
}

test('wss/1: after the close event a carrier answers closed and never uses its socket', async (t) => {
  const { port, carriers, closed } = await serveCarriers(t)
  const { socket } = await rawSocket(port, [OURS])
  await until('it is open', () => carriers.length === 1)
  t.is(carriers[0]?.send(['{}']), 0)
  socket.destroy()
  await until('it is closed', () => closed.length === 1)
  t.is(carriers[0]?.send(['{}', '{}']), 'closed')
  t.notThrows(() => carriers[0]?.close(1000, 'bye'))
})

test('wss/2: the bytes held for one socket are bounded, and a socket beyond is cut', async (t) => {
  const { port, carriers, closed } = await serveCarriers(t)
  const { socket } = await rawSocket(port, [OURS])
  t.teardown(() => socket.destroy())
  await until('it is open', () => carriers.length === 1)
  socket.pause()
  const text = 'x'.repeat(524_288)
  let most = 0
  let held = carriers[0]?.send([text])
  for (let sent = 0; sent < 100 && typeof held === 'number'; sent += 1) {
    most = Math.max(most, held)
    held = carriers[0]?.send([text])
  }
  t.is(held, 'closed')
  t.is(closed.length, 1)
  // The library looks before it takes a text, so one more text may be held.
  t.true(most > 2 * WINDOW_BYTES_MAX && most < 4 * WINDOW_BYTES_MAX + 2 * text.length)
})

const buffered = (meter: FakeMeter): number => meter.gauges.get('session_buffered_bytes')?.() ?? 0
const behind = (meter: FakeMeter): number => meter.gauges.get('sessions_behind')?.() ?? 0

interface Raw {
  readonly socket: ReturnType<typeof connect>
  /** The first of what it heard. */
  readonly text: () => string
}

/** A WebSocket by hand, whose head and whose reading are in the test's hands. */
async function rawSocket(port: number, headers: readonly string[]): Promise<Raw> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    if (text.length < 4_096) text += chunk.toString('latin1')
  })
  socket.write(upgradeRequest(headers))
  await until('the upgrade is answered', () => text.includes('\r\n\r\n'))
  return { socket, text: () => text }
}

const OURS = 'Sec-WebSocket-Protocol: heliograph.v1'

const upgradeRequest = (headers: readonly string[]): string =>
  [
    'GET /private/ws HTTP/1.1',
    'Host: 127.0.0.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
    '',
    '',
  ].join('\r\n')

/** A text frame as clients send it, with a mask of zeros. */
function maskedFrame(frame: object): Buffer {
  const payload = Buffer.from(JSON.stringify(frame))
  const length =
    payload.length < 126
      ? [0x80 | payload.length]
      : [0xfe, payload.length >> 8, payload.length & 255]
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), payload])
}
