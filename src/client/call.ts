// Makes a call to the gateway: reads the envelope, throws HeliographError, repeats safe calls.
//
// Invariants:
//   call/1. `call` repeats a request only when it may happen twice: the caller or the table of
//     client.ts says so. It repeats any other one only when it never reached the gateway.
//   call/2. Repeats are bounded in number, jittered, and never earlier than Retry-After says. A
//     longer Retry-After than RETRY_AFTER_MAX_MS ends the call with its error.

import { isRecord, jsonOf, recordOf, textIn } from '#domain/record'
import { HeliographError } from './error.ts'
import type { ClientCode } from './error.ts'
import { backoffMs, pause } from './runtime.ts'
import type { ClientRuntime, FetchAnswer, FetchInit } from './runtime.ts'

export interface Endpoint {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly token: string | undefined
  /** Accept-Language of every request; absent for the platform's own. */
  readonly language?: string | undefined
  readonly runtime: ClientRuntime
  readonly timeoutMs: number
  /** Is told of each failure behind which the client waits and tries again. */
  readonly onRepeat?: ((error: HeliographError, delayMs: number) => void) | undefined
}

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly repeats: Repeats
  readonly signal?: AbortSignal | undefined
  /** `text`: a document outside the envelope. `finding`: `data` counts in a refusal too. */
  readonly answers?: 'text' | 'finding'
}

/** `always`: the call may happen twice. `unsent`: it repeats only without a connection. (call/1) */
export type Repeats = 'always' | 'unsent' | 'never'

const ATTEMPTS_MAX = 4
const BACKOFF = { firstMs: 200, maxMs: 5_000 }
const RETRY_AFTER_MAX_MS = 60_000

/** Returns `data` of a success; throws HeliographError, or the reason of an aborted signal. */
export async function call(endpoint: Endpoint, request: Call): Promise<unknown> {
  const attempts = new Attempts(endpoint)
  for (;;) {
    const answer = await attemptOnce(endpoint, request)
    if (!(answer instanceof HeliographError)) return answer.data
    if (!mayRepeat(request.repeats, answer)) throw answer
    await attempts.failed(answer, request.signal)
  }
}

/** True when the request may be sent again. (call/1) */
const mayRepeat = (repeats: Repeats, { code }: HeliographError): boolean =>
  repeats === 'always' || (repeats === 'unsent' && code === 'not_connected')

/** Milliseconds before the next attempt; undefined for no further attempt. (call/2) */
function waitBefore(
  runtime: ClientRuntime,
  attempt: number,
  { status, retryAfterMs }: HeliographError,
): number | undefined {
  if (status !== 429 && status !== 503 && status !== 0) return undefined
  const jittered = backoffMs(runtime, attempt, BACKOFF)
  if (retryAfterMs === undefined) return jittered
  return retryAfterMs > RETRY_AFTER_MAX_MS ? undefined : retryAfterMs + jittered
}

async function attemptOnce(
  endpoint: Endpoint,
  request: Call,
): Promise<{ readonly data: unknown } | HeliographError> {
  const { signal, answers } = request
  const timeout = AbortSignal.timeout(endpoint.timeoutMs)
  const until = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
  const init = initOf(endpoint, { ...request, signal: until })
  try {
    const response = await endpoint.runtime.fetch(endpoint.baseUrl + request.path, init)
    const text = await response.text()
    return response.ok && answers === 'text' ? { data: text } : answerOf(response, text, answers)
  } catch (error) {
    signal?.throwIfAborted()
    return lostBy(error)
  }
}

/** Throws for a body that cannot be JSON, which is no failure of a connection. */
const initOf = (
  { token, language }: Endpoint,
  { method, body, signal }: Omit<Call, 'repeats'>,
): FetchInit => ({
  method,
  headers: {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(language !== undefined && { 'accept-language': language }),
  },
  ...(body !== undefined && { body: JSON.stringify(body) }),
  ...(signal && { signal }),
})

/** One attempt at a call whose answer is read while it comes; throws HeliographError. */
export async function* streamed(
  endpoint: Endpoint,
  request: Required<Pick<Call, 'path' | 'body' | 'signal'>>,
): AsyncGenerator<Uint8Array> {
  const init = initOf(endpoint, { method: 'POST', ...request })
  try {
    const response = await endpoint.runtime.fetch(endpoint.baseUrl + request.path, init)
    const { body } = response
    const isStream = response.ok && body !== undefined && body !== null
    if (isStream) yield* 'getReader' in body ? chunksOf(body) : body
    else throw refusalOf(answerOf(response, await response.text()), response)
  } catch (error) {
    throw error instanceof HeliographError ? error : lostBy(error)
  }
}

const refusalOf = (answer: object, { status }: FetchAnswer): HeliographError =>
  answer instanceof HeliographError ? answer : invalidAnswer(status)

/** Not every browser iterates over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** Waits between attempts in a row that bring nothing. (call/2) */
export class Attempts {
  readonly #endpoint: Pick<Endpoint, 'runtime' | 'onRepeat'>
  #failed = 0

  constructor(endpoint: Pick<Endpoint, 'runtime' | 'onRepeat'>) {
    this.#endpoint = endpoint
  }

  succeeded(): void {
    this.#failed = 0
  }

  /** Resolves when it is time for the next attempt; throws the error when there is none. */
  async failed(error: HeliographError, signal: AbortSignal | undefined): Promise<void> {
    const { runtime, onRepeat } = this.#endpoint
    const wait = waitBefore(runtime, this.#failed, error)
    this.#failed += 1
    // call/2
    if (this.#failed >= ATTEMPTS_MAX || wait === undefined) throw error
    onRepeat?.(error, wait)
    await pause(runtime, wait, signal)
    signal?.throwIfAborted()
  }
}

/** Without the platform's own text, which may hold an address with credentials. */
const lostBy = (error: unknown): HeliographError =>
  isUnsent(error)
    ? noAnswer('not_connected', 'no connection to the gateway was made')
    : noAnswer('connection_failed', 'the gateway did not answer')

const noAnswer = (code: ClientCode, message: string): HeliographError =>
  new HeliographError(message, { code, status: 0, retryable: true })

/** Codes that Node gives as the cause when it could not connect. Browsers give no cause. */
const UNSENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

function isUnsent(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  return isRecord(cause) && UNSENT.has(cause['code'])
}

function answerOf(
  response: FetchAnswer,
  text: string,
  answers?: Call['answers'],
): { readonly data: unknown } | HeliographError {
  const envelope = recordOf(jsonOf(text))
  if (envelope === undefined) return invalidAnswer(response.status)
  // Probes answer without the envelope, also when they are not ready.
  if (!('success' in envelope)) {
    return response.ok ? { data: envelope } : invalidAnswer(response.status)
  }
  if (response.ok && envelope['success'] === true) return { data: envelope['data'] }
  const { error, error_code, problem, data } = envelope
  if (answers === 'finding' && data !== undefined) return { data }
  if (typeof error !== 'string' || typeof error_code !== 'string') {
    return invalidAnswer(response.status)
  }
  const details = isRecord(problem) ? problem : {}
  return new HeliographError(error, {
    code: error_code,
    status: response.status,
    retryable: details['retryable'] === true,
    retryAfterMs: retryAfterOf(response),
    requestId: response.headers.get('x-request-id') ?? undefined,
    sentence: textIn(details['localized_message']),
    detail: textIn(details['detail']),
  })
}

/** The gateway writes whole seconds. */
function retryAfterOf(response: FetchAnswer): number | undefined {
  const seconds = response.headers.get('retry-after') ?? ''
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}

const invalidAnswer = (status: number): HeliographError =>
  new HeliographError('the answer does not come from a Heliograph gateway', {
    code: 'answer_invalid',
    status,
    retryable: status >= 500,
  })
