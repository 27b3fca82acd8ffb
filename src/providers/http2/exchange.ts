// Pairs one request with its answer.

import type { IncomingHttpHeaders } from 'node:http2'

export interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Empty when the server accepted the push. */
  readonly body: string
}

/** A request without an answer. The message names neither the request nor the server. */
export class Unanswered extends Error {
  /** The code of the system or of HTTP/2, for instance `ECONNREFUSED`. */
  readonly code: string

  constructor(code: string) {
    super(`the request has no answer: ${code}`)
    this.code = code
  }

  static late(): Unanswered {
    return new Unanswered('ETIMEDOUT')
  }
}

export class Exchange {
  readonly request: Request
  /** The time of its beginning, in monotonic milliseconds. */
  readonly beganMs: number
  /** The number of times that the server refused its stream. */
  refusals = 0
  #headers: IncomingHttpHeaders & { readonly ':status'?: number } = {}
  #chunks: Buffer[] | undefined
  #cause: unknown
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: Unanswered) => void

  constructor(
    request: Request,
    beganMs: number,
    settle: {
      readonly resolve: (answer: Answer) => void
      readonly reject: (error: Unanswered) => void
    },
  ) {
    this.request = request
    this.beganMs = beganMs
    this.#resolve = settle.resolve
    this.#reject = settle.reject
  }

  onHeaders(headers: IncomingHttpHeaders): void {
    this.#headers = headers
  }

  onData(chunk: Buffer): void {
    this.#chunks ??= []
    this.#chunks.push(chunk)
  }

  /** Notes the reason why no answer will come; the first reason counts. */
  fail(cause: unknown): void {
    this.#cause ??= cause
  }

  /** Resolves the request with its answer if one came; rejects it otherwise. */
  end(): void {
    const { ':status': status } = this.#headers
    if (status === undefined) return this.#reject(new Unanswered(codeOf(this.#cause)))
    const body = this.#chunks === undefined ? '' : Buffer.concat(this.#chunks).toString()
    return this.#resolve({ status, headers: this.#headers, body })
  }
}

const CODE = /^[A-Z][A-Z0-9_]{1,40}$/

/** Returns the code of an error, or of its cause: HTTP/2 wraps the errors of the system. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'ConnectionFailed'
  if (error.cause instanceof Error && 'code' in error.cause) return codeOf(error.cause)
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'string' && CODE.test(code) ? code : 'ConnectionFailed'
}
