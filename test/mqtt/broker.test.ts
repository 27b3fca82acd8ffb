// Goal: the bridge's connection is bounded, and finds its way to every broker.
// Method: a broker of the test's own, over a socket, says what it likes to each CONNECT.

import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { generate, parser } from 'mqtt-packet'
import type { IConnectPacket } from 'mqtt-packet'

import { PACKET_BYTES_MAX, connectBroker } from '#src/mqtt/bridge/broker'
import { until } from '#test/support/until'

type Answer = (socket: Socket, connect: IConnectPacket) => void

/** The CONNECTs of a bridge, each of which meets the next answer; the last one goes on. */
async function meeting(t: ExecutionContext, answers: readonly Answer[]) {
  const met: IConnectPacket[] = []
  const taken: string[] = []
  const failures: string[] = []
  const { promise: isDone, resolve } = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    const packets = parser({ protocolVersion: 5 })
    packets.on('packet', (packet) => {
      if (packet.cmd !== 'connect') return
      met.push(packet)
      answers[Math.min(met.length, answers.length) - 1]?.(socket, packet)
      if (met.length === answers.length) resolve()
    })
    socket.on('data', (bytes) => packets.parse(bytes))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const broker = connectBroker(
    { url: `mqtt://127.0.0.1:${port}`, topics: ['#'], key: 'k'.repeat(43) },
    {
      take: async ({ topic }) => void taken.push(topic),
      connected: () => undefined,
      lost: () => undefined,
      failed: (reason) => void failures.push(reason),
    },
  )
  t.teardown(async () => {
    await broker.close()
    server.close()
  })
  await isDone
  return { met, taken, failures }
}

const connack = (code: number): Answer =>
  (socket, { protocolVersion = 4 }) => {
    const codes = { reasonCode: code, returnCode: code, sessionPresent: false }
    socket.write(generate({ cmd: 'connack', ...codes }, { protocolVersion }))
  } // oxfmt-ignore
const hangUp: Answer = (socket) => void socket.end()

test('broker/2: a broker of MQTT 5 is told what the bridge takes', async (t) => {
  const { met } = await meeting(t, [connack(0)])
  t.like(met[0], {
    protocolVersion: 5,
    clean: false,
    properties: { receiveMaximum: 20, maximumPacketSize: PACKET_BYTES_MAX },
  })
})

for (const [name, answer] of [
  ['refuses MQTT 5', (socket) => void socket.write(Buffer.from([0x20, 2, 0, 1]))],
  ['closes at MQTT 5', hangUp],
] as readonly (readonly [string, Answer])[]) {
  test(`a broker that ${name} is met with 3.1.1, and its session is kept`, async (t) => {
    const { met } = await meeting(t, [answer, connack(0)])
    t.deepEqual(
      met.map(({ protocolVersion, clean }) => [protocolVersion, clean]),
      [
        [5, false],
        [4, false],
      ],
    )
  })
}

test('broker/3: a broker that refuses a CONNECT is asked again', async (t) => {
  const { met, failures } = await meeting(t, [connack(0x88), connack(0)])
  t.deepEqual(
    met.map(({ protocolVersion }) => protocolVersion),
    [5, 5],
  )
  t.deepEqual(failures, ['the connection to the broker failed: 136'])
})

test('broker/2: a broker of 3.1.1 that sends more than that in several packets is not left', async (t) => {
  const packets = ['a', 'b', 'c'].map((topic) =>
    generate({
      cmd: 'publish',
      topic,
      payload: Buffer.alloc(0.75 * PACKET_BYTES_MAX),
      qos: 0,
      dup: false,
      retain: false,
    }),
  )
  const flood: Answer = (socket, met) => {
    connack(0)(socket, met)
    for (const packet of packets) socket.write(packet)
  }
  const { taken, failures } = await meeting(t, [hangUp, flood])
  await until('all are taken', () => taken.length === packets.length)
  t.deepEqual(failures, [])
})

test('broker/2: a broker of 3.1.1 that sends a larger packet is left', async (t) => {
  const { promise: isLeft, resolve } = Promise.withResolvers<void>()
  const flood: Answer = (socket, connect) => {
    connack(0)(socket, connect)
    socket.on('close', resolve)
    // PUBLISH, with the greatest length that there is.
    socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0x61]))
    socket.write(Buffer.alloc(2 * PACKET_BYTES_MAX))
  }
  const { failures } = await meeting(t, [hangUp, flood])
  await isLeft
  t.regex(failures.join(), /beyond 1048576 bytes/)
})
