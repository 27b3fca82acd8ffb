// The way of a request through the checks that every route shares. (decisions.md 2)
//
//   route and method ─▶ token ─▶ budget ─▶ size ─▶ content type, JSON ─▶ the route's own handler
//
// Invariants:
//   R1. The checks run in this order and the first that fails gives the answer.
//   R2. Every exchange is answered once, also when a handler rejects; the reason of a rejection
//       goes to the operator, never to the caller.
//   R3. What is in flight is bounded; beyond the bound and while draining the answer is 503.

import { FAULTS, fault, isFault } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import type { Answer, NowMs } from '#domain/ports'
import { STORE_BUSY, STORE_FAILURES } from '#domain/store-ports'
import type { Log, Meter } from '#domain/telemetry'
import { readJson } from '#src/schemas/json'
import type { TokenVerdict } from './authorize.ts'
import type { Budget } from './budget.ts'
import type { ClientAddress } from './client-address.ts'
import { reportDefect } from '#domain/defect'
import type { Exchange, Head, Http } from './http.ts'
import { failure, rateLimitHeaders, requestIdFrom, success } from './respond.ts'
import type { Header, Reply } from './respond.ts'
import type { Checks, Document, Request, Result, Unready } from './request.ts'

export interface PipelinePorts {
  readonly http: Http
  readonly tokenCheck: (authorization: string) => TokenVerdict
  readonly budget: Budget
  readonly clientAddress: ClientAddress
  readonly newHex32: () => string
  readonly nowMs: NowMs
  readonly meter: Meter
  readonly log: Log
}

const BODY_BYTES_MAX = 32_768
const IN_FLIGHT_MAX = 20_000
const BUSY = fault('server_busy', { retryAfterMs: 1_000 })
const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({})
const NO_QUERY = new URLSearchParams()
const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;|$)/i

export class Pipeline {
  readonly ports: PipelinePorts
  readonly #refused: ReadonlyMap<FaultCode, (by?: number) => void>

  constructor(ports: PipelinePorts) {
    this.ports = ports
    this.#refused = new Map(
      codes().map((code) => [code, ports.meter.counter('refused_total', { code })]),
    )
  }

  /** Registers the routes, and what answers when method or path is another. */
  mount(routes: readonly Checks[]): void {
    const { http } = this.ports
    const methods = new Map<string, string[]>()
    for (const route of routes) {
      const pattern = route.path.replace(/\{(\w+)\}/g, ':$1')
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      http.route(route.method, pattern, (head, exchange) => {
        new Turn(this, exchange, head).begin(route, names, head)
      })
      methods.set(pattern, [...(methods.get(pattern) ?? []), route.method])
    }
    for (const [pattern, allowed] of methods) {
      const headers: readonly Header[] = [['allow', allowed.join(', ')]]
      http.route('any', pattern, (head, exchange) => {
        new Turn(this, exchange, head).refuse(fault('method_not_allowed'), headers)
      })
    }
    http.route('any', '/*', (head, exchange) => {
      new Turn(this, exchange, head).refuse(fault('route_not_found'))
    })
  }

  countRefusal(code: FaultCode): void {
    this.#refused.get(code)?.()
  }
}

/** One request in the pipeline; to its handler it is a Request. */
class Turn implements Request {
  readonly requestId: string
  body: unknown = undefined
  parameters: Readonly<Record<string, string>> = NO_PARAMETERS
  query: URLSearchParams = NO_QUERY
  receivedAtMs = 0
  readonly #pipeline: Pipeline
  readonly #exchange: Exchange
  readonly #acceptLanguage: string
  /** Set only when the budget is asked for this request. */
  #address: string | undefined

  constructor(pipeline: Pipeline, exchange: Exchange, head: Head) {
    this.#pipeline = pipeline
    this.#exchange = exchange
    this.#acceptLanguage = head.header('accept-language')
    this.requestId = requestIdFrom(head.header('x-request-id'), pipeline.ports.newHex32)
  }

  /**
   * Runs the checks. A defect in one of them is answered too: the library would end the process.
   */
  begin(route: Checks, names: readonly string[], head: Head): void {
    try {
      this.#check(route, names, head)
    } catch (error) {
      this.#fail(route, error)
    }
  }

  /** R1: everything up to the body, while the head can be read. */
  #check(route: Checks, names: readonly string[], head: Head): void {
    const { http } = this.#pipeline.ports
    if (http.isDraining || http.inFlight > IN_FLIGHT_MAX) {
      return this.refuse(BUSY) // R3
    }
    if (!this.#admits(route, head)) return undefined
    if (names.length > 0) {
      this.parameters = Object.fromEntries(names.map((name, at) => [name, head.parameter(at)]))
    }
    if (route.body === 'none') {
      const query = head.query()
      if (query !== '') this.query = new URLSearchParams(query)
      return this.#hand(route)
    }
    const bodyBytesMax = route.bodyBytesMax ?? BODY_BYTES_MAX
    if (Number(head.header('content-length')) > bodyBytesMax) {
      return this.#refuseSize()
    }
    const contentType = head.header('content-type')
    return this.#exchange.readBody(bodyBytesMax, (body) => {
      try {
        this.#read(route, contentType, body)
      } catch (error) {
        this.#fail(route, error)
      }
    })
  }

  #admits(route: Checks, head: Head): boolean {
    if (route.token === 'none') return true
    const { tokenCheck, clientAddress } = this.#pipeline.ports
    const verdict = tokenCheck(head.header('authorization'))
    if (verdict === 'valid' || (verdict === 'open' && route.budget === 'free')) return true
    if (verdict === 'absent') {
      this.refuse(fault('authentication_failed'))
      return false
    }
    this.#address = clientAddress(head)
    if (!this.#withinBudget()) return false
    if (verdict === 'open') return true
    this.refuse(fault('authentication_failed'))
    return false
  }

  #withinBudget(): boolean {
    const refusal = this.#pipeline.ports.budget.take(this.#address ?? '')
    if (refusal === undefined) return true
    const { limit, resetMs } = refusal
    this.refuse(fault('rate_limited', { retryAfterMs: resetMs }), rateLimitHeaders(limit, resetMs))
    return false
  }

  countGuess(): Fault | undefined {
    if (this.#address === undefined) return undefined
    const refusal = this.#pipeline.ports.budget.take(this.#address)
    return refusal && fault('rate_limited', { retryAfterMs: refusal.resetMs })
  }

  #refuseSize(): void {
    // The connection is not cut: what the caller still sends is skipped, so it gets to read the
    // answer.
    this.refuse(fault('body_too_large'), [['connection', 'close']])
  }

  #read(route: Checks, contentType: string, body: Uint8Array | Fault): void {
    if (isFault(body))
      return body.code === 'body_too_large' ? this.#refuseSize() : this.refuse(body)
    if (!JSON_MEDIA_TYPE.test(contentType)) return this.refuse(fault('missing_json_content_type'))
    const parsed = readJson(body)
    if (isFault(parsed)) return this.refuse(parsed)
    this.body = parsed
    return this.#hand(route)
  }

  #hand(route: Checks): void {
    if (this.parameters !== NO_PARAMETERS) {
      const parameters = decode(this.parameters)
      if (isFault(parameters)) return this.refuse(parameters)
      this.parameters = parameters
    }
    this.receivedAtMs = this.#pipeline.ports.nowMs()
    void this.#answer(route)
  }

  async #answer(route: Checks): Promise<void> {
    let reply: Reply
    try {
      reply = this.#replyTo(await route.handle(this))
    } catch (error) {
      return this.#fail(route, error)
    }
    this.#exchange.reply(reply, this.requestId)
  }

  #fail(route: Checks, error: unknown): void {
    if (error instanceof Error && error.name === STORE_BUSY) {
      return this.refuse(BUSY)
    }
    this.#pipeline.ports.log.error('a request failed', {
      requestId: this.requestId,
      route: `${route.method} ${route.path}`,
      ...reportDefect(error),
    })
    // R2
    const isStore = error instanceof Error && STORE_FAILURES.includes(error.name)
    this.refuse(isStore ? BUSY : fault('internal_error'))
  }

  #replyTo(result: Result): Reply {
    if (!('kind' in result)) return success(result)
    if (isFault(result)) return this.#failure(result)
    if (isDocument(result)) {
      return { status: 200, contentType: result.contentType, headers: [], body: result.body }
    }
    if (isUnready(result)) return this.#failure(result.fault, [], result.data)
    return success(result)
  }

  /** Answers with a fault. */
  refuse(refusal: Fault, headers: readonly Header[] = []): void {
    this.#exchange.reply(this.#failure(refusal, headers), this.requestId)
  }

  #failure(refusal: Fault, headers: readonly Header[] = [], data?: object): Reply {
    this.#pipeline.countRefusal(refusal.code)
    return failure(refusal, {
      requestId: this.requestId,
      acceptLanguage: this.#acceptLanguage,
      headers,
      ...(data === undefined ? {} : { data }),
    })
  }
}

const codes = (): FaultCode[] => Object.keys(FAULTS).filter(isCode)
const isCode = (text: string): text is FaultCode => Object.hasOwn(FAULTS, text)
const isDocument = (result: object): result is Document =>
  'kind' in result && result.kind === 'document'
const isUnready = (result: object): result is Unready =>
  'kind' in result && result.kind === 'unready'

function decode(raw: Readonly<Record<string, string>>): Answer<Readonly<Record<string, string>>> {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(raw)) {
    try {
      parameters[name] = decodeURIComponent(value)
    } catch {
      // decodeURIComponent throws for nothing else than a malformed escape.
      return fault('validation_failed', { field: name, detail: 'malformed percent-encoding' })
    }
  }
  return parameters
}
