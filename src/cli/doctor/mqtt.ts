// Checks that the gateway answers MQTT.

import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'

import { ok, problem, skipped } from './finding.ts'
import type { Finding } from './finding.ts'
import { WITHIN_MS, endpointOf, examineCertificate, serverNameOf } from './network.ts'
import type { Endpoint } from './network.ts'

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
  /** The path at the address of HTTP. */
  readonly mqtt_websocket_path?: string | null
}

export interface MqttExamination {
  readonly baseUrl: string
  readonly nowMs: number
  /** Milliseconds that each listener has to answer. */
  readonly withinMs?: number
}

/** A finding for each listener of MQTT. */
export async function* examineMqtt(
  { mqtt_port: plain, mqtts_port: tls, mqtt_websocket_path: path }: MqttTransport,
  { baseUrl, nowMs, withinMs = WITHIN_MS }: MqttExamination,
): AsyncIterable<Finding> {
  const { host } = endpointOf(baseUrl)
  if (typeof plain === 'number') {
    yield await examineListener('MQTT', { host, port: plain, withinMs })
  }
  if (typeof tls === 'number') {
    const endpoint = { host, port: tls, withinMs }
    yield await examineCertificate(OVER_TLS, endpoint, nowMs)
    yield await examineListener(OVER_TLS, endpoint)
  }
  if (typeof path === 'string') yield await examineWebSocket(`${baseUrl}${path}`, withinMs)
  if (typeof plain !== 'number' && typeof tls !== 'number' && typeof path !== 'string') {
    yield skipped('MQTT', 'the gateway has no listener for it')
  }
}

const OVER_TLS = 'MQTT over TLS'
const SILENT = 'nothing answers: another program has it, or a firewall takes what comes'
const CLOSED = 'something closes the connection without an answer to MQTT'
const HINT =
  'SERVICE_MQTT_ADDR and SERVICE_MQTT_TLS_ADDR of the gateway, and what stands between, decide it'

const isOurs = (answer: Uint8Array): boolean =>
  answer[0] === CONNACK && answer[3] === BAD_AUTHENTICATION_METHOD

interface Examined extends Endpoint {
  readonly withinMs: number
}

async function examineListener(
  check: 'MQTT' | typeof OVER_TLS,
  endpoint: Examined,
): Promise<Finding> {
  const isTls = check === OVER_TLS
  const { host, port, withinMs } = endpoint
  const socket = isTls ? overTls(endpoint) : connect({ host, port })
  socket.setTimeout(withinMs)
  const answer = await answerOf(socket, isTls)
  if (typeof answer !== 'string') {
    if (isOurs(answer)) return ok(check, `the gateway answers a CONNECT on port ${port}`)
    return problem(check, `port ${port}: another program has it`, HINT)
  }
  const isOther = !isTls && answer === CLOSED && (await speaksTls(endpoint))
  const detail = isOther ? 'it speaks TLS, where the gateway has MQTT without TLS' : answer
  return problem(check, `port ${port}: ${detail}`, HINT)
}

/** Trusts whoever answers: the certificate has a finding of its own. */
const overTls = ({ host, port }: Endpoint): TLSSocket =>
  connectTls({ host, port, ...serverNameOf({ host }), rejectUnauthorized: false })

/** What comes back for a CONNECT, or the reason for which nothing does. */
async function answerOf(socket: Socket, isTls: boolean): Promise<Buffer | string> {
  const { promise, resolve } = Promise.withResolvers<Buffer | string>()
  let isReady = false
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    isReady = true
    socket.write(CONNECT, 'latin1')
  })
  socket.on('timeout', () => resolve(SILENT))
  socket.on('data', resolve)
  socket.on('error', (error) => {
    const code = 'code' in error ? String(error.code) : error.name
    if (code === 'ECONNREFUSED') resolve('nothing listens there, or a firewall refuses')
    else resolve(isTls && !isReady ? `it does not speak TLS (${code})` : CLOSED)
  })
  socket.on('close', () => resolve(CLOSED))
  const answer = await promise
  socket.destroy()
  return answer
}

async function speaksTls(endpoint: Examined): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = overTls(endpoint)
  socket.once('secureConnect', () => resolve(true))
  socket.setTimeout(endpoint.withinMs, () => resolve(false))
  socket.on('error', () => resolve(false))
  const speaks = await promise
  socket.destroy()
  return speaks
}

const OVER_WEBSOCKET = 'MQTT over WebSocket'

async function examineWebSocket(url: string, withinMs: number): Promise<Finding> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>()
  const socket = new WebSocket(url.replace(/^http/i, 'ws'), 'mqtt')
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('open', () => socket.send(Buffer.from(CONNECT, 'latin1')))
  socket.addEventListener('message', ({ data }) =>
    resolve(data instanceof ArrayBuffer ? new Uint8Array(data) : undefined),
  )
  for (const end of ['error', 'close']) socket.addEventListener(end, () => resolve(undefined))
  const timer = setTimeout(() => resolve(undefined), withinMs)
  const answer = await promise
  clearTimeout(timer)
  socket.close()
  const { pathname } = new URL(url)
  if (answer !== undefined && isOurs(answer)) {
    return ok(OVER_WEBSOCKET, `the gateway answers a CONNECT at ${pathname}`)
  }
  const hint = 'a proxy in front must pass WebSocket upgrades on, with their subprotocol'
  return problem(OVER_WEBSOCKET, `no CONNECT is answered at ${pathname}`, hint)
}
