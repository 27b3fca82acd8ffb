// Implements a stand-in for Apple's push service over HTTP/2 and TLS: it checks provider tokens and
// refuses requests as Apple does. (Apple: "Sending notification requests to APNs", "Handling
// notification responses from APNs")

import { createPublicKey, randomUUID, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { StandIn } from './http2-server.ts'
import type { PushAnswer, PushRequest, StandInOptions } from './http2-server.ts'

const PAYLOAD_MAX = 4_096
const TOKEN_AGE_S_MAX = 3_600
const VERIFIED_MAX = 100
const PATH = /^\/3\/device\/([0-9a-f]+)$/

/** A received notification. */
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

interface ApnsServerOptions extends StandInOptions {
  readonly keyId: string
  readonly teamId: string
  readonly topic: string
  /** The key in PEM, private or public, for the signatures of provider tokens. */
  readonly key: string
  readonly nowMs: () => number
}

/** Counts requests; `refuse` and the latency of `standIn` make it misbehave. */
export class ApnsServer {
  readonly standIn: StandIn
  /** Called with each valid notification; gives undefined to accept it. */
  refuse: (push: ApnsPush) => ApnsRefusal | undefined = () => undefined
  /** Called with each accepted notification. */
  taken: (push: ApnsPush) => void = () => undefined
  /** Tokens that are not registered any more, with the time at which Apple noticed. */
  readonly unregistered = new Map<string, number>()
  /** The number of requests, accepted or not. */
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

  /** The value for SERVICE_APNS_HOST. */
  get host(): string {
    return `127.0.0.1:${this.standIn.port}`
  }

  #answer(request: PushRequest, check: TokenCheck): PushAnswer {
    this.requests += 1
    const refused = check(request.headers['authorization']) ?? this.#refusalOf(request)
    if (refused !== undefined) return refused
    const push = pushOf(request)
    if (push === undefined) return refusal(400, 'BadMessageId')
    const wanted = this.refuse(push)
    if (wanted !== undefined) return refusal(wanted.status, wanted.reason, wanted.retryAfter)
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

/** Returns a check by Apple's rules: a token needs ES256, known key and team ids, and age < 1 h. */
function tokenCheck({ keyId, teamId, key, nowMs }: ApnsServerOptions): TokenCheck {
  const publicKey = createPublicKey(key)
  // Verification costs more than the rest of a request, and clients send a token thousands of
  // times.
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

/** Returns the time of issue in Unix seconds; undefined unless this key signed it for this team. */
function issuedAtOf(token: string, { publicKey, keyId, teamId }: Signer): number | undefined {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const { alg, kid } = decoded(header)
  const { iss, iat } = decoded(claims)
  if (alg !== 'ES256' || kid !== keyId || iss !== teamId || typeof iat !== 'number')
    return undefined
  const isValid = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  return isValid ? iat : undefined
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
