// A stand-in for Apple's push service: real HTTP/2 over TLS, real tokens checked, real refusals.
// (Apple: "Sending notification requests to APNs", "Handling notification responses from APNs")

import { createPublicKey, randomUUID, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { StandIn } from './http2-server.ts'
import type { PushAnswer, PushRequest, StandInOptions } from './http2-server.ts'

const PAYLOAD_MAX = 4_096
const TOKEN_AGE_S_MAX = 3_600
const VERIFIED_MAX = 100
const PATH = /^\/3\/device\/([0-9a-f]+)$/

/** A notification that was taken or refused. */
export interface ApnsPush {
  readonly token: string
  readonly headers: PushRequest['headers']
  readonly payload: Readonly<Record<string, unknown>>
}

export interface ApnsRefusal {
  readonly status: number
  readonly reason: string
  readonly retryAfter?: string
}

export interface ApnsServerOptions extends StandInOptions {
  readonly keyId: string
  readonly teamId: string
  readonly topic: string
  /** The private or public key in PEM that provider tokens are signed with. */
  readonly key: string
  readonly nowMs: () => number
}

/** Counts what it takes; `refuse` and `latency` make it misbehave. */
export class ApnsServer {
  readonly standIn: StandIn
  /** Asked for each good notification; undefined takes it. */
  refuse: (push: ApnsPush) => ApnsRefusal | undefined = () => undefined
  /** Called with each notification that it takes. */
  taken: (push: ApnsPush) => void = () => undefined
  /** Tokens that are not registered any more, with when that was seen. */
  readonly unregistered = new Map<string, number>()
  /** Every request that came, taken or not. */
  requests = 0

  readonly #topic: string

  private constructor(standIn: StandIn, options: ApnsServerOptions) {
    this.standIn = standIn
    this.#topic = options.topic
    const check = tokenCheck(options)
    standIn.answer = (request) => this.#answer(request, check)
  }

  static async start(options: ApnsServerOptions): Promise<ApnsServer> {
    return new ApnsServer(await StandIn.listen(options), options)
  }

  /** For SERVICE_APNS_HOST. */
  get host(): string {
    return `127.0.0.1:${this.standIn.port}`
  }

  #answer(request: PushRequest, check: TokenCheck): PushAnswer {
    this.requests += 1
    const refused = check(request.headers['authorization']) ?? this.#refusalOf(request)
    if (refused !== undefined) return refused
    const push = pushOf(request)
    if (push === undefined) return refusal(400, 'BadMessageId')
    const told = this.refuse(push)
    if (told !== undefined) return refusal(told.status, told.reason, told.retryAfter)
    this.taken(push)
    return { status: 200, headers: { 'apns-id': randomUUID() } }
  }

  #refusalOf({ method, path, headers, body }: PushRequest): PushAnswer | undefined {
    const [, token] = PATH.exec(path) ?? []
    if (method !== 'POST') return refusal(405, 'MethodNotAllowed')
    if (!path.startsWith('/3/device/')) return refusal(404, 'BadPath')
    if (token === undefined || token.length < 64) return refusal(400, 'BadDeviceToken')
    if (headers['apns-topic'] === undefined) return refusal(400, 'MissingTopic')
    if (headers['apns-topic'] !== this.#topic) return refusal(400, 'TopicDisallowed')
    if (headers['apns-push-type'] !== 'alert') return refusal(400, 'InvalidPushType')
    if (!/^(5|10)?$/.test(headers['apns-priority'] ?? '')) return refusal(400, 'BadPriority')
    if (!/^\d{0,11}$/.test(headers['apns-expiration'] ?? '')) {
      return refusal(400, 'BadExpirationDate')
    }
    if (Buffer.byteLength(headers['apns-collapse-id'] ?? '') > 64) {
      return refusal(400, 'BadCollapseId')
    }
    if (body === '') return refusal(400, 'PayloadEmpty')
    if (Buffer.byteLength(body) > PAYLOAD_MAX) return refusal(413, 'PayloadTooLarge')
    const since = this.unregistered.get(token)
    return since === undefined ? undefined : gone(since)
  }
}

type TokenCheck = (authorization: string | undefined) => PushAnswer | undefined

/** Apple's rules for provider tokens: ES256, the key and team by name, an hour of age. */
function tokenCheck({ keyId, teamId, key, nowMs }: ApnsServerOptions): TokenCheck {
  const publicKey = createPublicKey(key)
  // To verify one costs more than all the rest, and each is sent thousands of times.
  const verified = new Map<string, number>()
  return (authorization) => {
    const token = /^bearer (\S+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) return refusal(403, 'MissingProviderToken')
    const issuedAt = verified.get(token) ?? issuedAtOf(token, { publicKey, keyId, teamId })
    if (issuedAt === undefined) return refusal(403, 'InvalidProviderToken')
    if (verified.size > VERIFIED_MAX) verified.clear()
    verified.set(token, issuedAt)
    const ageSeconds = nowMs() / 1000 - issuedAt
    return ageSeconds > TOKEN_AGE_S_MAX ? refusal(403, 'ExpiredProviderToken') : undefined
  }
}

interface Signer {
  readonly publicKey: KeyObject
  readonly keyId: string
  readonly teamId: string
}

/** Unix seconds; undefined for a token that this key did not sign for this team. */
function issuedAtOf(token: string, { publicKey, keyId, teamId }: Signer): number | undefined {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const { alg, kid } = decoded(header)
  const { iss, iat } = decoded(claims)
  if (alg !== 'ES256' || kid !== keyId || iss !== teamId || typeof iat !== 'number')
    return undefined
  const isGood = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  return isGood ? iat : undefined
}

function decoded(part: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

function pushOf({ path, headers, body }: PushRequest): ApnsPush | undefined {
  try {
    const token = PATH.exec(path)?.[1] ?? ''
    return { token, headers, payload: JSON.parse(body) as ApnsPush['payload'] }
  } catch {
    return undefined
  }
}

function refusal(status: number, reason: string, retryAfter?: string): PushAnswer {
  return {
    status,
    body: { reason },
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
  }
}

const gone = (timestamp: number): PushAnswer => ({
  status: 410,
  body: { reason: 'Unregistered', timestamp },
})
