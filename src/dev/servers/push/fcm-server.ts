// Implements stand-ins for Google's push service, messages:send of FCM v1, and for the endpoint of
// its access tokens. Both listen on one port, to which `redirects` leads the libraries' hosts.

import { createPublicKey, randomBytes, verify } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { StandIn } from './http2-server.ts'
import type { PushAnswer, PushRequest, StandInOptions } from './http2-server.ts'
import type { Redirects } from './redirect.ts'

const MESSAGE_BYTES_MAX = 4_096
const TOKEN_LIFE_S = 3_600
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const FCM_ERROR = 'type.googleapis.com/google.firebase.fcm.v1.FcmError'

/** The hosts that it replaces. Its certificate must name them. */
export const FCM_HOSTS = ['fcm.googleapis.com', 'oauth2.googleapis.com'] as const

export interface FcmMessage {
  readonly token: string
  readonly data: Readonly<Record<string, string>>
  readonly android?: { readonly priority?: string; readonly ttl?: string }
}

export interface FcmRefusal {
  readonly status: number
  /** Google's canonical code, for instance RESOURCE_EXHAUSTED. */
  readonly canonical: string
  /** FCM's own code, if any, for instance QUOTA_EXCEEDED. */
  readonly errorCode?: string
  readonly message?: string
  readonly retryAfter?: string
}

interface FcmServerOptions extends StandInOptions {
  readonly projectId: string
  readonly clientEmail: string
  /** The key in PEM, private or public, for the signatures of assertions. */
  readonly key: string
  readonly nowMs: () => number
}

/** Counts requests; `refuse`, `refuseGrant` and the latency of `standIn` make it misbehave. */
export class FcmServer {
  readonly standIn: StandIn
  /** Called with each valid message; gives undefined to accept it. */
  refuse: (message: FcmMessage) => FcmRefusal | undefined = () => undefined
  /** Called with each accepted message. */
  taken: (message: FcmMessage) => void = () => undefined
  /** The OAuth error code with which it refuses access tokens; undefined to give them. */
  refuseGrant: string | undefined
  readonly unregistered = new Set<string>()
  requests = 0
  grants = 0
  readonly #options: FcmServerOptions
  readonly #granted = new Map<string, number>()
  #accepted = 0

  private constructor(standIn: StandIn, options: FcmServerOptions) {
    this.standIn = standIn
    this.#options = options
    standIn.answer = (request) => this.#answer(request)
    standIn.answerPlain = (request, response) => this.#grant(request, response)
  }

  static async start(options: FcmServerOptions): Promise<FcmServer> {
    return new FcmServer(await StandIn.listen(options), options)
  }

  /** The addresses to which the libraries' connections must go. */
  get redirects(): Redirects {
    const here = `127.0.0.1:${this.standIn.port}`
    return Object.fromEntries(FCM_HOSTS.map((host) => [`${host}:443`, here]))
  }

  /** Refuses all access tokens that it has given. */
  forgetGrants(): void {
    this.#granted.clear()
  }

  #answer({ method, path, headers, body }: PushRequest): PushAnswer {
    this.requests += 1
    const token = /^Bearer (\S+)$/.exec(headers['authorization'] ?? '')?.[1] ?? ''
    const until = this.#granted.get(token)
    if (until === undefined || until < this.#options.nowMs()) {
      return refusal({ status: 401, canonical: 'UNAUTHENTICATED' })
    }
    const expected = `/v1/projects/${this.#options.projectId}/messages:send`
    if (method !== 'POST' || path !== expected) {
      return refusal({ status: 403, canonical: 'PERMISSION_DENIED' })
    }
    const message = messageIn(body)
    if (message === undefined) return refusal(invalid('Invalid JSON payload received.'))
    const refused = this.#refusalOf(message)
    if (refused !== undefined) return refusal(refused)
    this.taken(message)
    this.#accepted += 1
    return {
      status: 200,
      body: { name: `projects/${this.#options.projectId}/messages/${this.#accepted}` },
    }
  }

  #refusalOf(message: FcmMessage): FcmRefusal | undefined {
    const { token, data } = message
    if (!/^[\x21-\x7e]{16,}$/.test(token)) {
      return invalid('The registration token is not a valid FCM registration token')
    }
    if (Object.values(data).some((value) => typeof value !== 'string')) {
      return invalid('Invalid value at message.data')
    }
    if (Buffer.byteLength(JSON.stringify(data)) > MESSAGE_BYTES_MAX) {
      return invalid('Android message is too big')
    }
    if (this.unregistered.has(token)) {
      const text = 'Requested entity was not found.'
      return { status: 404, canonical: 'NOT_FOUND', errorCode: 'UNREGISTERED', message: text }
    }
    return this.refuse(message)
  }

  /** POST /token */
  #grant(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const refused = this.refuseGrant ?? this.#grantRefusal(Buffer.concat(chunks).toString())
      response.setHeader('content-type', 'application/json')
      if (refused !== undefined) {
        response.statusCode = 400
        response.end(
          JSON.stringify({ error: refused, error_description: 'Invalid JWT Signature.' }),
        )
        return
      }
      this.grants += 1
      const token = randomBytes(24).toString('hex')
      this.#granted.set(token, this.#options.nowMs() + TOKEN_LIFE_S * 1000)
      const granted = { access_token: token, expires_in: TOKEN_LIFE_S, token_type: 'Bearer' }
      response.end(JSON.stringify(granted))
    })
  }

  #grantRefusal(body: string): string | undefined {
    const form = new URLSearchParams(body)
    if (form.get('grant_type') !== GRANT) return 'unsupported_grant_type'
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const isValid = verify(
      'sha256',
      Buffer.from(`${header}.${claims}`),
      createPublicKey(this.#options.key),
      Buffer.from(signature, 'base64url'),
    )
    const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as {
      readonly iss?: string
    }
    return isValid && iss === this.#options.clientEmail ? undefined : 'invalid_grant'
  }
}

function messageIn(body: string): FcmMessage | undefined {
  try {
    const { message } = JSON.parse(body) as { readonly message?: FcmMessage }
    return typeof message?.token === 'string' ? { ...message, data: message.data ?? {} } : undefined
  } catch {
    return undefined
  }
}

const invalid = (message: string): FcmRefusal => ({
  status: 400,
  canonical: 'INVALID_ARGUMENT',
  errorCode: 'INVALID_ARGUMENT',
  message,
})

/** Returns an error in Google's format. */
function refusal({ status, canonical, errorCode, message, retryAfter }: FcmRefusal): PushAnswer {
  const details = errorCode === undefined ? [] : [{ '@type': FCM_ERROR, errorCode }]
  return {
    status,
    body: { error: { code: status, message: message ?? canonical, status: canonical, details } },
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
  }
}
