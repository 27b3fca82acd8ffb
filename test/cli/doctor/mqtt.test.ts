// Goal: the doctor says of each listener of MQTT whether it answers, and what is wrong in one
// sentence, and guesses nothing at it.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { App } from 'uWebSockets.js'

import type { Finding } from '#src/cli/doctor/finding'
import { examineMqtt } from '#src/cli/doctor/mqtt'
import type { MqttExamination, MqttTransport } from '#src/cli/doctor/mqtt'
import { makeCertificate } from '#test/support/certificate'
import { serveMqtt, serveMqttOverWebSocket } from '#test/support/mqtt-server'
import { listen } from '#test/support/wss-server'

const HOST = '127.0.0.1'

async function findings(
  ports: MqttTransport,
  more: Partial<MqttExamination> = {},
): Promise<readonly Finding[]> {
  const found: Finding[] = []
  const examination = { baseUrl: `http://${HOST}`, nowMs: Date.UTC(2026, 0), ...more }
  for await (const finding of examineMqtt(ports, examination)) found.push(finding)
  return found
}

type Say = (socket: Socket, connection: Socket) => void

/** The port of a program that says this to whoever connects, over TLS with a certificate. */
async function taken(t: ExecutionContext, say: Say, certificate?: object): Promise<number> {
  const server = createServer((connection) => {
    const socket = certificate
      ? new TLSSocket(connection, { isServer: true, ...certificate })
      : connection
    for (const each of [socket, connection]) each.on('error', () => undefined)
    say(socket, connection)
  })
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** The port of nobody: it was taken and given back. */
async function nobodys(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('a listener that answers is fine, and no credential was refused', async (t) => {
  const { port, logger } = await serveMqtt(t)
  t.like(await findings({ mqtt_port: port }), [{ check: 'MQTT', result: 'ok' }])
  t.deepEqual(logger.lines, [])
})

test('MQTT over WebSocket is fine where a CONNECT is answered, and nowhere else', async (t) => {
  const { port, logger } = await serveMqttOverWebSocket(t)
  const other = await taken(t, (socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'))
  const silent = await taken(t, () => undefined)
  const app = App().ws('/mqtt', { message: (socket) => void socket.send('no', true) })
  t.teardown(() => app.close())
  const another = await listen(app)
  for (const [at, path, says] of [
    [port, '/mqtt', /answers a CONNECT at \/mqtt$/],
    [port, '/other', /no CONNECT is answered at \/other/],
    [other, '/mqtt', /no CONNECT is answered/],
    [another, '/mqtt', /no CONNECT is answered/],
    [silent, '/mqtt', /no CONNECT is answered/],
  ] as const) {
    const more = { baseUrl: `http://${HOST}:${at}`, ...(at === silent && { withinMs: 100 }) }
    const [finding, ...others] = await findings({ mqtt_websocket_path: path }, more)
    t.deepEqual(others, [])
    t.is(finding?.check, 'MQTT over WebSocket')
    t.regex(finding?.detail ?? '', says)
  }
  t.deepEqual(logger.lines, [])
})

test('a listener that is off is skipped', async (t) => {
  t.like(await findings({ mqtt_port: null }), [{ check: 'MQTT', result: 'skipped' }])
})

/** What other programs do that dislike the first bytes. */
const reset: Say = (socket, connection) =>
  void socket.once('data', () => connection.resetAndDestroy())

test('a port that says nothing is given up', async (t) => {
  const [finding] = await findings(
    { mqtt_port: await taken(t, () => undefined) },
    { withinMs: 100 },
  )
  t.regex(finding?.detail ?? '', /nothing answers: another program has it, or a firewall/)
})

test('a port that is taken, refuses or speaks otherwise is said in one sentence', async (t) => {
  const { certFile, keyFile } = await makeCertificate(t)
  const certificate = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  const overTls = await serveMqtt(t, () => certificate)
  const plain = await serveMqtt(t)
  const rows: readonly (readonly [MqttTransport, number, RegExp])[] = [
    [{ mqtt_port: await nobodys() }, 0, /nothing listens there, or a firewall refuses/],
    [{ mqtts_port: await nobodys() }, 1, /nothing listens there/],
    [{ mqtt_port: await taken(t, (socket) => socket.end()) }, 0, /closes the connection/],
    [{ mqtt_port: await taken(t, reset) }, 0, /closes the connection/],
    [{ mqtts_port: await taken(t, reset, certificate) }, 1, /closes the connection/],
    [
      { mqtt_port: await taken(t, (socket) => socket.end(Buffer.from([0x20, 2, 0, 0]))) },
      0,
      /another program has it/,
    ],
    [
      { mqtt_port: await taken(t, (socket) => socket.end(Buffer.from([0x48, 2, 0, 0x8c]))) },
      0,
      /another program has it/,
    ],
    [
      { mqtt_port: await taken(t, (socket) => socket.end('HTTP/1.1 400 Bad Request')) },
      0,
      /another program has it/,
    ],
    [{ mqtt_port: overTls.port }, 0, /it speaks TLS, where/],
    [{ mqtts_port: plain.port }, 1, /it does not speak TLS/],
  ]
  for (const [ports, index, says] of rows) {
    const { result, detail } = (await findings(ports))[index] ?? { result: 'skipped', detail: '' }
    t.is(result, 'problem', `${JSON.stringify(ports)} ${String(says)}`)
    t.regex(detail, says)
  }
  const [trust, speech] = await findings({ mqtts_port: overTls.port })
  t.like(trust, { check: 'MQTT over TLS', result: 'problem' })
  t.regex(trust?.detail ?? '', /not trusted here/)
  t.like(speech, { check: 'MQTT over TLS', result: 'ok' })
})
