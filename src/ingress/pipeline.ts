// Takes a request through the checks that every row shares. (decisions.md 2)
//
//   route and method ─▶ caller ─▶ size ─▶ the row's reader ─▶ its handler ─▶ its answerer
//
// Invariants:
//   pipeline/1. The checks run in this order and the first that fails gives the answer.
//   pipeline/2. Every exchange is answered once, also when a handler rejects; the reason of a
//               rejection goes to the operator, never to the caller.
//   pipeline/3. A request that comes while the process starts or drains, or beyond the bound of
//               requests in flight, carries its refusal along: acceptance gives it last.
//   pipeline/4. A request that could bring a password and ends without one counts in the password
//               budget as a guess does; beyond the budget it gets 429 in place of its own refusal.
//   pipeline/5. The address of a caller without a known key is read while its connection lives.

import { FAULTS, fault, isFault } from '#domain/fault'
import { BUSY, refusalsBy } from '#src/refusals/rejection'
import { RequestOrigin } from './request.ts'
import type { Request } from './request.ts'
import type { Fault, FaultCode } from '#domain/fault'
import type { Answer, NowMs } from '#domain/ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { Admitted } from '#src/acceptance/caller'
import type { CallerCheck, Guard } from '#src/acceptance/caller-check'
import { reportDefect } from '#domain/defect'
import { ENVELOPE, requestIdFrom } from './answerer.ts'
import type { Answerer } from './answerer.ts'
import type { Compression } from './compression.ts'
import { headRefusal } from './reader.ts'
import type { Exchange } from '#src/http/exchange'
import type { Begin, Head, Router } from '#src/http/router'
import type { Reply } from '#src/http/reply'
import { decodeParameters, guardOf, methodsOf, patternOf, spellingsOf } from './row.ts'
import type { Row } from './row.ts'

export interface PipelinePorts {
  readonly http: Router
  /** False while the process starts. Absent: always true. */
  readonly isOpen?: () => boolean
  readonly callerCheck: Pick<CallerCheck, 'admit'>
  readonly compression: Pick<Compression, 'applied'>
  readonly newHex32: () => string
  readonly nowMs: NowMs
  readonly meter: Meter
  readonly logger: Logger
}

const IN_FLIGHT_MAX = 20_000
const NO_VALUES: Readonly<Record<string, string>> = Object.freeze({})
const NO_QUERY = new URLSearchParams()

/** A row with values that each of its requests would compute again. */
interface Mounted {
  readonly row: Row
  readonly guard: Guard
  /** The named parts of the path. */
  readonly names: readonly string[]
  readonly headers: readonly string[]
  /** The path template, for the operator: it holds nothing of a caller. */
  readonly label: string
}

const mounted = (row: Row): Mounted => ({
  row,
  guard: guardOf(row),
  names: [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  headers: row.headers ?? [],
  label: `${row.methods.join(', ')} ${row.path}`,
})

export class Pipeline {
  readonly ports: PipelinePorts
  readonly refusalOf: ReturnType<typeof refusalsBy>
  readonly #refused: ReadonlyMap<FaultCode, (by?: number) => void>

  constructor(ports: PipelinePorts) {
    this.ports = ports
    this.refusalOf = refusalsBy(ports.nowMs)
    this.#refused = new Map(
      codes().map((code) => [code, ports.meter.counter('refused_total', { code })]),
    )
  }

  /**
   * Registers the rows, and the answers to other methods and paths. `unknown` answers unknown
   * paths.
   */
  mount(rows: readonly Row[], unknown: Answerer<never> = ENVELOPE): void {
    const spelled = rows.flatMap((row) => spellingsOf(row).map((path) => ({ ...row, path })))
    for (const [pattern, group] of Map.groupBy(spelled, patternOf)) {
      for (const row of group) this.#mountRow(pattern, mounted(row))
      this.#mountOthers(pattern, group)
    }
    this.ports.http.route('any', '/*', (head, exchange) => {
      new PendingRequest(this, exchange, head, unknown).refuse(fault('route_not_found'))
    })
  }

  #mountRow(pattern: string, route: Mounted): void {
    const { http } = this.ports
    const { row } = route
    const begin: Begin = (head, exchange) => {
      new PendingRequest(this, exchange, head, row.answerer).begin(route, head)
    }
    if (row.isWebSocket === true) {
      http.socket(pattern, begin)
      http.route('GET', pattern, (head, exchange) => {
        new PendingRequest(this, exchange, head, row.answerer).refuse(
          fault('websocket_upgrade_required'),
        )
      })
      return
    }
    for (const method of methodsOf(row)) http.route(method, pattern, begin)
  }

  /**
   * Registers 405 for other methods, in the shape of the path's first row, with the methods that
   * its rows take.
   */
  #mountOthers(pattern: string, rows: readonly Row[]): void {
    const allow = rows.flatMap(methodsOf).join(', ')
    const answerer = rows[0]?.answerer ?? ENVELOPE
    this.ports.http.route('any', pattern, (head, exchange) => {
      new PendingRequest(this, exchange, head, answerer).refuse(fault('method_not_allowed'), allow)
    })
  }

  /** Counts an answer that refuses. */
  count({ code }: Reply): void {
    if (code !== undefined) this.#refused.get(code)?.()
  }
}

/** One request in the pipeline; its handler gets it as a Request. */
class PendingRequest implements Request {
  readonly requestId: string
  readonly acceptLanguage: string
  body: unknown = undefined
  parameters = NO_VALUES
  headers = NO_VALUES
  query: URLSearchParams = NO_QUERY
  sentQuery = ''
  receivedAtMs = 0
  origin: Admitted['origin'] = undefined
  isCounted = false
  attempt: Admitted['attempt'] = undefined
  readonly refusal: Fault | undefined
  readonly #pipeline: Pipeline
  readonly #exchange: Exchange
  readonly #answerer: Answerer

  constructor(pipeline: Pipeline, exchange: Exchange, head: Head, answerer: Answerer) {
    const { http, newHex32, isOpen } = pipeline.ports
    this.#pipeline = pipeline
    this.#exchange = exchange
    this.#answerer = answerer
    this.acceptLanguage = answerer.isLocalised ? head.header('accept-language') : ''
    this.requestId = requestIdFrom(head.header('x-request-id'), newHex32)
    const isClosed = isOpen?.() === false || http.isDraining || http.inFlight > IN_FLIGHT_MAX
    this.refusal = isClosed ? BUSY : undefined // pipeline/3
  }

  /** Runs the checks. A defect in one gets an answer too: the library would end the process. */
  begin(route: Mounted, head: Head): void {
    try {
      this.#check(route, head)
    } catch (error) {
      this.#fail(route, error)
    }
  }

  /** Runs the checks up to the body, while the head can be read. (pipeline/1) */
  #check(route: Mounted, head: Head): void {
    const { row, guard, names, headers } = route
    const authorization = guard.token === 'none' ? '' : head.header('authorization')
    const bareToken = row.tokenFrom?.(head)
    const origin = new RequestOrigin(head, this.#exchange, this.requestId)
    const admitted = this.#pipeline.ports.callerCheck.admit(guard, origin, authorization, bareToken)
    if (isFault(admitted)) return this.refuse(admitted)
    Object.assign(this, admitted)
    if (names.length > 0) {
      this.parameters = Object.fromEntries(names.map((name, at) => [name, head.parameter(at)]))
    }
    if (headers.length > 0)
      this.headers = Object.fromEntries(headers.map((name) => [name, head.header(name)]))
    if (row.reader.isQueryRead) this.sentQuery = head.query()
    if (this.sentQuery !== '') this.query = new URLSearchParams(this.sentQuery)
    return row.reader.bytesMax === 0 ? this.#hand(route) : this.#receive(route, head)
  }

  #receive(route: Mounted, head: Head): void {
    const { reader } = route.row
    const refusal = headRefusal(head, reader.bytesMax, route.headers)
    if (refusal !== undefined) return this.#refuseBody(refusal)
    if (reader.open !== undefined) {
      void this.origin?.address // pipeline/5
      return this.#take(route, this.refusal ?? reader.open(head, this.#exchange))
    }
    const contentType = head.header('content-type')
    return this.#exchange.readBody(reader.bytesMax, (bytes) => {
      try {
        if (isFault(bytes)) this.#refuseBody(bytes)
        else this.#read(route, bytes, contentType)
      } catch (error) {
        this.#fail(route, error)
      }
    })
  }

  #refuseBody(refusal: Fault): void {
    // The rest of the body is skipped and the connection kept: the caller can read the answer.
    const connection = refusal.code === 'body_too_large' ? 'close' : undefined
    this.refuse(refusal, undefined, connection)
  }

  #read(route: Mounted, bytes: Uint8Array, contentType: string): void {
    const body = route.row.reader.read(bytes, contentType)
    if (body instanceof Promise) {
      void this.origin?.address // pipeline/5
      body.then(
        (value) => this.#take(route, value),
        (error: unknown) => this.#fail(route, error),
      )
    } else this.#take(route, body)
  }

  #take(route: Mounted, body: Answer<unknown>): void {
    if (isFault(body)) return this.#refuseBody(body)
    this.body = body
    return this.#hand(route)
  }

  #hand(route: Mounted): void {
    if (this.parameters !== NO_VALUES) {
      const parameters = decodeParameters(route.row, this.parameters)
      if (isFault(parameters)) return this.refuse(parameters)
      this.parameters = parameters
    }
    this.receivedAtMs = this.#pipeline.ports.nowMs()
    void this.#answer(route)
  }

  async #answer(route: Mounted): Promise<void> {
    const { row } = route
    try {
      const handled = row.handle(this)
      if (this.attempt?.isByKey === false) void this.origin?.address // pipeline/5
      const outcome = await handled
      const uncounted = this.attempt?.end() // pipeline/4
      const data = isFault(outcome) ? (uncounted ?? outcome) : outcome
      if (isFault(data) && data.code === 'body_too_large') return this.#refuseBody(data)
      const made = isFault(data)
        ? this.#answerer.failure(data, this)
        : this.#answerer.success(data, this)
      const { compression } = this.#pipeline.ports
      const reply = row.isCompressible ? await compression.applied(made, this.headers) : made
      if (!this.#exchange.hasRoomFor(reply)) return this.refuse(BUSY)
      this.#pipeline.count(reply)
      const streaming = this.#exchange.reply(reply, this.requestId)
      if (streaming !== undefined) await streaming
    } catch (error) {
      this.#fail(route, error)
    }
  }

  #fail(route: Mounted, error: unknown): void {
    const { ports, refusalOf } = this.#pipeline
    const seen = { requestId: this.requestId, route: route.label }
    const report = (defect: object): void =>
      ports.logger.error('a request failed', { ...seen, ...defect })
    return this.refuse(refusalOf(error, report)) // pipeline/2
  }

  /** Answers with a fault; `allow` and `connection` are headers that few refusals have. */
  refuse(reason: Fault, allow?: string, connection?: string): void {
    const refusal = this.attempt?.end() ?? reason // pipeline/4
    if (this.receivedAtMs === 0) this.receivedAtMs = this.#pipeline.ports.nowMs()
    const reply = this.#failureOf(refusal)
    const headers = [...reply.headers]
    if (allow !== undefined) headers.push(['allow', allow])
    if (connection !== undefined) headers.push(['connection', connection])
    this.#pipeline.count(reply)
    void this.#exchange.reply({ ...reply, headers }, this.requestId)
  }

  /** pipeline/2: when the row's own answerer has a defect, the envelope answers. */
  #failureOf(refusal: Fault): Reply {
    try {
      return this.#answerer.failure(refusal, this)
    } catch (error) {
      this.#pipeline.ports.logger.error('an answerer failed', { ...reportDefect(error) })
      return ENVELOPE.failure(refusal, this)
    }
  }
}

const codes = (): FaultCode[] => Object.keys(FAULTS).filter(isCode)
const isCode = (text: string): text is FaultCode => Object.hasOwn(FAULTS, text)
