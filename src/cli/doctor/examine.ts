// Examines a server, from its name to the channel. A problem on the way to HTTP ends the
// examination, since no later check could succeed.

import { randomBytes } from 'node:crypto'

import { isRecord } from '#domain/record'
import { HeliographError } from '#src/client/error'
import { webSocketCarrier } from '#src/client/carrier'
import { tcpCarrier } from '#src/client/node/tcp'
import type { Access, Credentials } from '#src/cli/access'
import { HINTS, endingOf } from '#src/cli/endings'
import type { ProcessContext } from '#src/cli/process-context'
import type { CommandClient } from '#src/cli/command-client'
import { ok, problem, skipped, warning } from './finding.ts'
import type { Finding } from './finding.ts'
import { examineMqtt } from './mqtt.ts'
import type { MqttTransport } from './mqtt.ts'
import {
  WITHIN_MS,
  examineCertificate,
  examineConnection,
  examineName,
  endpointOf,
} from './network.ts'
import { parseDeviceKey } from '#domain/identity'
import type { Carrier } from '#src/client/carrier'
import { encodeDeviceFrame } from '#src/schemas/frames'
import type { GatewayFrame } from '#src/schemas/frames'
import { readGatewayFrame } from '#src/schemas/read-frames'

/** A larger difference between the clocks of this computer and the gateway is a warning. */
const CLOCK_DIFFERENCE_MAX_S = 30

export interface Subject extends Pick<CommandClient, 'client' | 'access'> {
  /** Undefined when no channel is given. */
  readonly credentials: Credentials | undefined
}

/** Returns each finding as soon as its check has ended. */
export async function* examine(
  subject: Subject,
  context: Pick<ProcessContext, 'fetch' | 'nowMs'>,
): AsyncIterable<Finding> {
  const { access } = subject
  const endpoint = endpointOf(access.baseUrl)
  const isTls = access.baseUrl.startsWith('https:')
  const steps = [
    async () => await examineName(endpoint),
    async () => await examineConnection('connection', endpoint),
    async () =>
      isTls
        ? await examineCertificate('certificate', endpoint, context.nowMs())
        : skipped('certificate', 'the address is http: others on the network can read the traffic'),
    async () => await examineHealth(access, context),
  ]
  for (const step of steps) {
    const finding = await step()
    yield finding
    if (finding.result === 'problem') return
  }
  yield await examineReadiness(access, context)
  yield await examineClock(access, context)
  yield* examineCarriers(subject, endpoint.host, context.nowMs())
  yield await examineChannel(subject)
}

async function ask(
  { baseUrl, token }: Access,
  path: string,
  { fetch }: Pick<ProcessContext, 'fetch'>,
) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const signal = AbortSignal.timeout(WITHIN_MS)
  return await fetch(`${baseUrl}${path}`, { headers, signal })
}

async function examineHealth(
  access: Access,
  context: Pick<ProcessContext, 'fetch'>,
): Promise<Finding> {
  const answer = await ask(access, '/healthz', context).catch(() => undefined)
  if (answer?.ok === true) return ok('health', 'the gateway lives')
  if (answer === undefined) {
    return problem('health', 'no answer over HTTP', 'is it https, and is this the port of HTTP?')
  }
  if (answer.status === 401) return tokenProblem('token')
  const to = answer.headers.get('location')
  if (to !== null) {
    return problem(
      'health',
      'the server redirects to another address',
      'name its new address by --url',
    )
  }
  const hint = 'is --url right, with the path that a proxy puts in front?'
  return problem('health', `the server is no gateway (status ${answer.status})`, hint)
}

const tokenProblem = (check: string): Finding =>
  problem(check, 'the gateway token is missing or wrong', HINTS.authentication_failed)

async function examineReadiness(
  access: Access,
  context: Pick<ProcessContext, 'fetch'>,
): Promise<Finding> {
  const answer = await ask(access, '/readyz', context).catch(() => undefined)
  const text = (await answer?.text()) ?? ''
  const { durability, dependencies } = readinessIn(text)
  if (answer?.ok === true) return ok('readiness', `everything is ready; durability: ${durability}`)
  const missing = dependencies.join(', ')
  const hint = 'submissions are refused for now; the log of the gateway says why'
  return problem(
    'readiness',
    `not ready: ${missing === '' ? 'it stops or is full' : missing}`,
    hint,
  )
}

/** The durability and the names of the dependencies that are not ready. */
function readinessIn(text: string): {
  readonly durability: string
  readonly dependencies: readonly string[]
} {
  try {
    const { data } = JSON.parse(text) as {
      readonly data: {
        readonly durability: string
        readonly dependencies: readonly { readonly name: string; readonly ready: boolean }[]
      }
    }
    const waiting = data.dependencies.filter(({ ready }) => !ready).map(({ name }) => name)
    return { durability: data.durability, dependencies: waiting }
  } catch {
    return { durability: 'unknown', dependencies: [] }
  }
}

async function examineClock(
  access: Access,
  context: Pick<ProcessContext, 'fetch' | 'nowMs'>,
): Promise<Finding> {
  const answer = await ask(access, '/healthz', context).catch(() => undefined)
  const serverMs = Date.parse(answer?.headers.get('date') ?? '')
  if (Number.isNaN(serverMs)) return skipped('clock', 'the server sends no Date header')
  // The header has whole seconds, so the time is half a second later on average.
  const seconds = Math.round(Math.abs(serverMs + 500 - context.nowMs()) / 1000)
  if (seconds <= CLOCK_DIFFERENCE_MAX_S) {
    return ok('clock', seconds === 0 ? 'the same time' : `${seconds} s apart`)
  }
  const hint = 'set both by NTP: values with an older time do not replace newer ones'
  return warning('clock', `the clocks are ${seconds} s apart`, hint)
}

interface Transport extends MqttTransport {
  readonly wss_enabled?: boolean
  readonly tcp_enabled?: boolean
  readonly tcp_port?: number
  readonly quic_enabled?: boolean
  readonly quic_port?: number
}

async function* examineCarriers(
  { client, access }: Subject,
  host: string,
  nowMs: number,
): AsyncIterable<Finding> {
  const profile = await client.profile().catch(refusalOf)
  if (profile instanceof HeliographError) {
    yield problem('profile', profile.message, 'is it a gateway of this kind and version?')
    return
  }
  yield ok('profile', `version ${String(profile['version'])}`)
  const transport = profile['transport'] as Transport
  const { token } = access
  yield transport.wss_enabled === true
    ? await examineSession('WebSocket', webSocketCarrier(access.baseUrl), token)
    : skipped('WebSocket', 'the gateway does not offer it')
  const port = transport.tcp_port ?? 0
  if (transport.tcp_enabled === true) {
    const certificate = await examineCertificate('TCP', { host, port }, nowMs)
    yield certificate.result === 'problem'
      ? certificate
      : await examineSession('TCP', tcpCarrier({ host, port }), token)
  } else yield skipped('TCP', 'the gateway does not offer it')
  yield transport.quic_enabled === true
    ? skipped('QUIC', `offered on UDP port ${transport.quic_port ?? '?'}; not tried from here`)
    : skipped('QUIC', 'the gateway does not offer it')
  yield* examineMqtt(transport, { baseUrl: access.baseUrl, nowMs })
  yield aboutWebPush(profile['webpush'])
}

/** A point that browsers take as `applicationServerKey`. */
const PUBLIC_KEY = /^B[\w-]{86}$/

/** The finding about the key by which push services know the gateway. */
export function aboutWebPush(profile: unknown): Finding {
  const check = 'Web Push'
  if (!isRecord(profile)) return skipped(check, 'the gateway does not offer it')
  const key = profile['public_key']
  if (typeof key === 'string' && PUBLIC_KEY.test(key)) return ok(check, `the key is ${key}`)
  const hint = 'does a proxy in front change answers?'
  return problem(check, 'the public key has another form than browsers take', hint)
}

const refusalOf = (error: unknown): HeliographError => {
  if (error instanceof HeliographError) return error
  throw error
}

async function examineChannel({ client, credentials }: Subject): Promise<Finding> {
  if (credentials === undefined) return skipped('channel', 'no channel and password are given')
  const facts = await client.channel.info(credentials).catch(refusalOf)
  if (facts instanceof HeliographError) {
    const { message, hint } = endingOf(facts)
    return problem('channel', message, hint ?? 'see the message')
  }
  const { channel_name: name, subscribers, things } = facts
  return ok('channel', `${name}: ${subscribers} subscribers, ${things} Things`)
}

const HELLO_WITHIN_MS = 10_000
const KEY_BYTES = 16

/**
 * Sends a hello with a device key that no device has, which the gateway must refuse with the code
 * for that. A real key would end the session of its device.
 */
async function examineSession(
  check: string,
  carrier: Carrier,
  token: string | undefined,
): Promise<Finding> {
  const deviceKey = parseDeviceKey(randomBytes(KEY_BYTES).toString('hex'))
  if (deviceKey === undefined) throw new Error('16 bytes in hex are a device key')
  const { promise, resolve } = Promise.withResolvers<GatewayFrame | string>()
  const hello = { kind: 'hello', deviceKey, gatewayToken: token, client: 'doctor' } as const
  const connection = carrier({
    opened: () => connection.send(encodeDeviceFrame({ ...hello, cursors: new Map() })),
    received: (text) => resolve(readGatewayFrame(text) ?? 'the server speaks another protocol'),
    closed: (reason) => resolve(reason),
  })
  const timer = setTimeout(() => resolve('the server does not answer a hello'), HELLO_WITHIN_MS)
  const answer = await promise
  clearTimeout(timer)
  connection.close()
  return findingOf(check, answer)
}

function findingOf(check: string, answer: GatewayFrame | string): Finding {
  if (typeof answer !== 'string' && answer.kind === 'error') {
    if (answer.code === 'device_key_not_found') return ok(check, 'the gateway answers a hello')
    if (answer.code === 'authentication_failed') return tokenProblem(check)
  }
  const detail = typeof answer === 'string' ? answer : `an unexpected ${answer.kind}`
  const hint = 'a proxy in front must pass WebSocket upgrades on, and keep idle connections'
  return problem(check, detail, hint)
}
