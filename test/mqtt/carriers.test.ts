// Goal: the listeners over real sockets: the protocol begins, ends, and a slot is free afterwards.

import { once } from 'node:events'
import { connect as dial } from 'node:net'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { HELD_PAUSE, TAKES_WITHIN_MS } from '#src/mqtt/bounds'
import { encode } from '#src/mqtt/codec'
import { keepThings } from '#test/support/kept-things'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { connect, publish } from '#test/support/mqtt-play'
import { serveMqtt, serveMqttOverWebSocket } from '#test/support/mqtt-server'
import { until } from '#test/support/until'

const HELLO = encode(connect({ username: CHANNEL, password: Buffer.from(PASSWORD) }), 4)
const PUBLISH = encode(publish(1, 7), 4)

async function serve(t: ExecutionContext) {
  const rig = await serveMqtt(t)
  const socket = dial({ port: rig.port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  const heard: Buffer[] = []
  socket.on('data', (bytes: Buffer) => heard.push(bytes))
  socket.on('error', () => undefined)
  const connections = (): number => rig.meter.gauges.get('device_connections{mqtt}')?.() ?? -1
  return { ...rig, socket, heard: () => Buffer.concat(heard), connections }
}

test('a publish over TCP is acknowledged, however its bytes are cut', async (t) => {
  const { socket, heard, sink } = await serve(t)
  for (const byte of Buffer.concat([HELLO, PUBLISH])) socket.write(Buffer.from([byte]))
  await until('the answers are there', () => heard().length === 8)
  t.deepEqual([...heard()], [0x20, 2, 0, 0, 0x40, 2, 0, 7])
  t.is(sink.accepted.length, 1)
})

test('mqtt-tcp/1: a client that does not close its side is cut 2 s after the end', async (t) => {
  const { socket, time, connections } = await serve(t)
  socket.write(PUBLISH)
  await once(socket, 'end')
  t.is(connections(), 1)
  time.advance(2_000)
  await until('its slot is free', () => connections() === 0)
  t.pass()
})

test('mqtt-websocket/1: packets come in binary messages, and after the close event nothing is sent', async (t) => {
  const rig = await serveMqttOverWebSocket(t)
  const client = new WebSocket(`ws://127.0.0.1:${rig.port}/mqtt`, 'mqtt')
  client.binaryType = 'arraybuffer'
  await once(client, 'open')
  const { promise: held, resolve } = Promise.withResolvers<void>()
  rig.sink.answer = () => held.then(() => ({ kind: 'accepted' }))
  client.send(Buffer.concat([HELLO, PUBLISH]))
  const [message] = (await once(client, 'message')) as [{ readonly data: ArrayBuffer }]
  t.deepEqual([...new Uint8Array(message.data)], [0x20, 2, 0, 0])
  client.close()
  await until('it is gone', () => rig.meter.gauges.get('device_connections{mqtt}')?.() === 0)
  resolve()
  await until('the publish is in the log', () => rig.sink.accepted.length === 1)
  t.deepEqual(rig.logger.lines, [])
})

/** Things enough to fill the buffers of two sockets on one machine, and more. */
const STATE_THINGS = 200
const SUBSCRIBE = encode(
  { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'things/+', qos: 0 }] },
  4,
)

test('writing/3: over TCP who reads in its time gets all of a state, and who reads nothing is ended', async (t) => {
  const rig = await serveMqtt(t)
  keepThings(rig, STATE_THINGS)
  const held = (): number => rig.meter.gauges.get('mqtt_held_bytes')?.() ?? -1
  const open = (clientId: string) => {
    const socket = dial({ port: rig.port, host: '127.0.0.1' })
    t.teardown(() => socket.destroy())
    const got = { bytes: 0, isClosed: false }
    socket.on('data', ({ length }) => (got.bytes += length))
    socket.on('error', () => undefined)
    socket.on('close', () => (got.isClosed = true))
    const credentials = { username: CHANNEL, password: Buffer.from(PASSWORD), keepalive: 0 }
    socket.write(Buffer.concat([encode(connect({ clientId, ...credentials }), 4), SUBSCRIBE]))
    return { socket, got }
  }
  const [reader, other] = [open('reader'), open('other')]
  for (const { socket, got } of [reader, other]) {
    await until('it has a part', () => got.bytes > 0)
    socket.pause()
  }
  await until('both are waited for', () => held() > 2 * HELD_PAUSE)
  rig.time.advance(TAKES_WITHIN_MS - 1)
  reader.socket.resume()
  await until('it has all', () => reader.got.bytes > STATE_THINGS * HELD_PAUSE)
  rig.time.advance(TAKES_WITHIN_MS)
  await until('nothing is held', () => held() === 0)
  t.is(rig.meter.total('sessions_ended_total{mqtt,unread}'), 1)
  other.socket.resume()
  await until('it is closed', () => other.got.isClosed)
  t.false(reader.got.isClosed)
})
