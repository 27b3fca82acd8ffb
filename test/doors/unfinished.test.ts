// Goal: whatever a peer leaves unfinished counts: each door is opened a thousand times with the
// largest that it keeps, and its metric has no less than what is there, and no more than its bound.

import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { Arriving } from '#src/doors/arriving'
import { CONNECT_BYTES_MAX } from '#src/mqtt/codec'
import { TEST_MS } from '#test/support/bounds'
import { serveTcp } from '#test/support/carrier-servers'
import type { FakeMeter } from '#test/support/fake-telemetry'
import { serveMqtt, serveMqttOverWebSocket } from '#test/support/mqtt-server'
import { RawWebSocket } from '#test/support/raw-websocket'
import { KEY } from '#test/support/session-words'
import { until } from '#test/support/until'
import { MANY, serveWss } from '#test/support/wss-server'

const PEERS = 1_000
const MANY_MORE = { total: 2 * PEERS, perAddress: 2 * PEERS }

interface Door {
  readonly port: number
  readonly meter: FakeMeter
}

/** A peer that leaves bytes unfinished; those that the door cuts leave none. */
class Peer {
  readonly socket: Socket
  #left = 0

  constructor(t: ExecutionContext, port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => undefined)
    this.socket.resume()
    t.teardown(() => this.socket.destroy())
  }

  get bytes(): number {
    return this.socket.closed ? 0 : this.#left
  }

  async leave(bytes: Buffer, counted = bytes.length): Promise<void> {
    await new Promise<void>((resolve) => this.socket.write(bytes, () => resolve()))
    this.#left += counted
  }
}

async function upgraded(peer: Peer, path: string, protocol: string): Promise<void> {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: a',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Protocol: ${protocol}`,
    '\r\n',
  ]
  peer.socket.write(lines.join('\r\n'))
  await once(peer.socket, 'data')
}

/** The first frame of a message that does not end. A mask of zeros is a mask. */
function fragment(opcode: 1 | 2, length: number): Buffer {
  const head = Buffer.alloc(14)
  head.set([opcode, 0x80 | 127])
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, Buffer.alloc(length, 'x')])
}

interface Row {
  readonly serve: (t: ExecutionContext) => Promise<Door>
  readonly metrics: readonly string[]
  readonly bound: number
  /** Leaves the most that one peer can. */
  readonly leave: (peer: Peer) => Promise<void>
}

const MIB = 2 ** 20
const LENGTH = 65_535
const ROWS: Readonly<Record<string, Row>> = {
  'arriving/1: frames over TCP': {
    serve: (t) => serveTcp(t, { limits: MANY_MORE }),
    metrics: ['device_arriving_bytes{tcp}'],
    bound: 16 * MIB,
    leave: (peer) => {
      const frame = Buffer.alloc(4 + LENGTH - 1)
      frame.writeUInt32BE(LENGTH)
      return peer.leave(frame, LENGTH - 1)
    },
  },
  'upgrade/2: messages over WSS': {
    serve: (t) => serveWss(t, '', MANY),
    metrics: ['device_arriving_bytes{wss}'],
    bound: 2 * (512 * 66_560 + PEERS * 8_192),
    leave: async (peer) => {
      await upgraded(peer, '/private/ws', 'heliograph.v1')
      await peer.leave(fragment(1, LENGTH), LENGTH)
    },
  },
  'in-flight/2: CONNECT over TCP': {
    serve: (t) => serveMqtt(t, undefined, MANY_MORE),
    metrics: ['mqtt_stranger_bytes'],
    bound: 4 * MIB + 2 * CONNECT_BYTES_MAX,
    leave: (peer) =>
      peer.leave(Buffer.concat([Buffer.from([0x10, 0xfa, 0xff, 1]), Buffer.alloc(32_000)])),
  },
  'upgrade/2: messages of MQTT over WebSocket': {
    serve: (t) => serveMqttOverWebSocket(t, MANY_MORE),
    metrics: ['device_arriving_bytes{mqtt}'],
    bound: 2 * (128 * (256 * 1_024 + 16_384) + PEERS * 40_960),
    leave: async (peer) => {
      await upgraded(peer, '/mqtt', 'mqtt')
      await peer.leave(fragment(2, 256 * 1_024), 256 * 1_024)
    },
  },
}

for (const [name, { serve, metrics, bound, leave }] of Object.entries(ROWS)) {
  test.serial(`${name} that are unfinished count, and are bounded`, async (t) => {
    t.timeout(TEST_MS)
    const { port, meter } = await serve(t)
    const counted = (): number =>
      metrics.reduce((sum, metric) => sum + (meter.gauges.get(metric)?.() ?? 0), 0)
    const peers: Peer[] = []
    for (let left = PEERS; left > 0; left -= 1) {
      const peer = new Peer(t, port)
      await once(peer.socket, 'connect')
      peers.push(peer)
      await leave(peer)
    }
    const there = (): number => peers.reduce((sum, { bytes }) => sum + bytes, 0)
    await until('what is there counts', () => counted() >= there())
    t.true(there() > 3 * MIB && counted() <= bound, `${there()}, ${counted()} of ${bound}`)
    for (const { socket } of peers) socket.destroy()
    await until('nothing is left', () => counted() === 0)
  })
}

test('upgrade/2: beyond those with room for long messages a device is served with short ones', async (t) => {
  const { url, meter } = await serveWss(t)
  const open = async (): Promise<{ readonly heard: string[]; readonly socket: RawWebSocket }> => {
    const heard: string[] = []
    const socket = await RawWebSocket.open(url, (text) => heard.push(text))
    t.teardown(() => socket.socket.destroy())
    return { heard, socket }
  }
  const connected = (): number => meter.gauges.get('device_connections{wss}')?.() ?? -1
  const long = JSON.stringify({ type: 'hello', device_key: KEY, client: 'x'.repeat(9_000) })
  const first = await open()
  for (let left = 511; left > 0; left -= 1) await open()
  const [beyond, cut] = [await open(), await open()]
  first.socket.send(long)
  await until('a long frame is read', () => first.heard.length > 0)
  beyond.socket.send(JSON.stringify({ type: 'hello', device_key: KEY }))
  await until('it is welcome', () => beyond.heard.some((text) => text.includes('welcome')))
  const before = connected()
  cut.socket.send(long)
  await until('it is cut', () => connected() === before - 1)
  first.socket.socket.destroy()
  await until('its room is free', () => connected() === before - 2)
  const next = await open()
  next.socket.send(long)
  await until('a long frame is read again', () => next.heard.length > 0)
  t.is(cut.heard.length, 0)
})

test('arriving/1: a peer has room up to the bound of its address and of all, and gives it back', (t) => {
  const arriving = new Arriving({ perAddress: 100, total: 150 })
  const [one, other] = [arriving.open('192.0.2.1'), arriving.open('192.0.2.2')]
  t.is(one.holds(100), undefined)
  t.is(one.holds(101), 'rate_limited')
  t.is(arriving.bytes, 0)
  t.is(one.holds(100), undefined)
  t.is(other.holds(50), undefined)
  t.is(other.holds(51), 'server_busy')
  t.is(one.holds(0), undefined)
  t.is(arriving.bytes, 0)
})
