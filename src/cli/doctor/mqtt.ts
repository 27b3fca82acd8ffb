// Checks that the gateway answers MQTT.

import { connect } from 'node:net'

import { ok, problem, skipped } from './finding.ts'
import type { Finding } from './finding.ts'
import { examineCertificate } from './network.ts'
import type { Endpoint } from './network.ts'

const WITHIN_MS = 5_000

/**
 * A CONNECT of MQTT 5 that asks for enhanced authentication, which the gateway must refuse with the
 * code for that: it shows no credential, so nothing counts as a guess.
 */
const CONNECT = '\x10\x16\x00\x04MQTT\x05\x02\x00\x3c\x09\x15\x00\x06doctor\x00\x00'
const CONNACK = 0x20
const BAD_AUTHENTICATION_METHOD = 0x8c

/** The ports of MQTT in the gateway's profile; null for a listener that is off. */
export interface MqttTransport {
  readonly mqtt_port?: number | null
  readonly mqtts_port?: number | null
}

/** A finding for each listener of MQTT. */
export async function* examineMqtt(
  { mqtt_port: plain, mqtts_port: tls }: MqttTransport,
  host: string,
  nowMs: number,
): AsyncIterable<Finding> {
  if (typeof plain === 'number') yield await examineListener({ host, port: plain })
  if (typeof tls === 'number') {
    yield await examineCertificate('MQTT over TLS', { host, port: tls }, nowMs)
  }
  if (typeof plain !== 'number' && typeof tls !== 'number') {
    yield skipped('MQTT', 'the gateway has no listener for it')
  }
}

async function examineListener({ host, port }: Endpoint): Promise<Finding> {
  const { promise, resolve } = Promise.withResolvers<Buffer | string>()
  const socket = connect({ host, port }, () => socket.write(CONNECT, 'latin1'))
  socket.setTimeout(WITHIN_MS, () => resolve('it does not answer a CONNECT'))
  socket.on('data', resolve)
  socket.on('error', (error) => resolve('code' in error ? String(error.code) : error.name))
  socket.on('close', () => resolve('it closes without an answer'))
  const answer = await promise
  socket.destroy()
  const isRight =
    typeof answer !== 'string' && answer[0] === CONNACK && answer[3] === BAD_AUTHENTICATION_METHOD
  if (isRight) return ok('MQTT', `the gateway answers a CONNECT on port ${port}`)
  const detail = typeof answer === 'string' ? answer : 'it speaks another protocol'
  return problem(
    'MQTT',
    `port ${port}: ${detail}`,
    'is the port open from here, and is it the right one?',
  )
}
