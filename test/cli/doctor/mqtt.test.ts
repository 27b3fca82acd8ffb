// Goal: the doctor says of each listener of MQTT whether it answers, and what is wrong in one
// sentence, and guesses nothing at it.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Finding } from '#src/cli/doctor/finding'
import { examineMqtt } from '#src/cli/doctor/mqtt'
import type { MqttTransport } from '#src/cli/doctor/mqtt'
import { makeCertificate } from '#test/support/certificate'
import { serveMqtt } from '#test/support/mqtt-server'

const HOST = '127.0.0.1'

async function findings(ports: MqttTransport): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for await (const finding of examineMqtt(ports, HOST, Date.UTC(2026, 0))) found.push(finding)
  return found
}

/** The port of a program that says this to whoever connects. */
async function taken(t: ExecutionContext, say: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    say(socket)
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

test('a listener that is off is skipped', async (t) => {
  t.like(await findings({ mqtt_port: null }), [{ check: 'MQTT', result: 'skipped' }])
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
