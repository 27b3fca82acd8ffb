// uWebSockets.js and its dangers, absorbed once.
//
// Invariants:
//   H1. The request object dies when its handler returns: Head refuses to be read after that.
//   H2. A response is used neither after it was answered nor after it was aborted.
//   H3. A body is refused while it is read, as soon as it is known to be too large; what all bodies
//       in the making hold together is bounded.
//   H4. A body that does not arrive in time is answered and its connection closed.
//   H5. A port is bound by one process, unless sharing is asked for: the library does it silently.

import './uws-environment.ts'
import { App, SSLApp, us_socket_local_port } from 'uWebSockets.js'
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Timers } from '#domain/ports'
import { BodyDeadlines, Expiring } from './body-deadlines.ts'
import { REASON } from './respond.ts'
import type { Reply } from './respond.ts'
import { whyNoTls } from './tls-check.ts'
import type { TlsFiles } from './tls-check.ts'
import { whyNotBound } from './port-check.ts'

export interface HttpOptions {
  readonly tls: TlsFiles | undefined
  readonly timers: Timers
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number
  /** Other processes of this machine may bind the same port. */
  readonly isPortShared?: boolean
  /** The time for a whole body. The library itself cuts silent connections after 8 to 12 s. */
  readonly bodyTimeoutMs: number
}

/** The head of a request. Readable only until the handler that got it returns. (H1) */
export interface Head {
  readonly method: string
  /** The first value of a header; '' when there is none. */
  header(name: string): string
  /** Every line of a header, joined by commas. */
  headerLines(name: string): string
  /** The query as sent, without the question mark. */
  query(): string
  /** A part of the path as sent, by its place among the named parts. */
  parameter(index: number): string
  /** The address of the socket. */
  address(): string
}

/** One request on its way to one answer. */
export interface Exchange {
  /**
   * Reads the body and gives it once: the bytes live until `done` returns. Nothing after an abort.
   */
  readBody(maxBytes: number, done: (body: Uint8Array | Fault) => void): void
  /**
   * Answers. Must be called for every exchange, also after an abort; only the first call counts.
   */
  reply(reply: Reply, requestId: string): void
}

export type Begin = (head: Head, exchange: Exchange) => void
export type Method = 'GET' | 'HEAD' | 'POST' | 'any'

export interface Http {
  /** For the WebSocket of src/transports. */
  readonly app: TemplatedApp
  readonly isDraining: boolean
  readonly inFlight: number
  /** Bytes of bodies that are still arriving. */
  readonly bodyBytes: number
  route(method: Method, pattern: string, begin: Begin): void
  /** Gives the bound port; rejects with a sentence for the operator when it cannot bind. */
  listen(host: string, port: number): Promise<number>
  /** From now on every answer closes its connection. Resolves when nothing is in flight. */
  drain(): Promise<void>
  /** Ends every connection, answered or not. */
  close(): void
}

/** Throws a sentence for the operator when certificate or key cannot be used. */
export function createHttp(options: HttpOptions): Http {
  return new UwsHttp(options)
}

const BODY_BYTES_MAX = 64 * 1024 * 1024
const PORT = { shared: 0, exclusive: 1 } as const

function secureApp(tls: TlsFiles): TemplatedApp {
  const problem = whyNoTls(tls)
  if (problem !== undefined) throw new Error(problem)
  return SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
}

class UwsHttp implements Http {
  readonly app: TemplatedApp
  readonly deadlines: BodyDeadlines
  isDraining = false
  inFlight = 0
  bodyBytes = 0
  readonly #head = new UwsHead()
  readonly #binding: number
  #whenIdle: (() => void)[] = []

  constructor({ tls, isPortShared, ...deadlines }: HttpOptions) {
    this.#binding = PORT[isPortShared === true ? 'shared' : 'exclusive'] // H5
    this.app = tls === undefined ? App() : secureApp(tls)
    this.deadlines = new BodyDeadlines({ ...deadlines, timeoutMs: deadlines.bodyTimeoutMs })
  }

  route(method: Method, pattern: string, begin: Begin): void {
    const handler = (response: HttpResponse, request: HttpRequest): void => {
      const head = this.#head
      head.open(request, response)
      begin(head, new UwsExchange(this, response, head.method === 'HEAD'))
      head.close() // H1
    }
    if (method === 'GET') this.app.get(pattern, handler)
    else if (method === 'HEAD') this.app.head(pattern, handler)
    else if (method === 'POST') this.app.post(pattern, handler)
    else this.app.any(pattern, handler)
  }

  async listen(host: string, port: number): Promise<number> {
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      // The option is taken here too, although the published types know it without a host only.
      const bind: unknown = Reflect.get(this.app, 'listen')
      if (typeof bind !== 'function') throw new Error('the HTTP library has no listen')
      Reflect.apply(bind, this.app, [host, port, this.#binding, resolve])
    })
    if (socket !== false) return us_socket_local_port(socket)
    throw new Error(`cannot listen on ${host} port ${port}: ${await whyNotBound(host, port)}`)
  }

  drain(): Promise<void> {
    this.isDraining = true
    if (this.inFlight === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  close(): void {
    this.deadlines.stop()
    this.app.close()
  }

  settled(): void {
    this.inFlight -= 1
    if (this.inFlight > 0) return
    for (const resolve of this.#whenIdle) resolve()
    this.#whenIdle = []
  }
}

class UwsHead implements Head {
  method = ''
  #request: HttpRequest | undefined
  #response: HttpResponse | undefined

  open(request: HttpRequest, response: HttpResponse): void {
    this.#request = request
    this.#response = response
    this.method = request.getCaseSensitiveMethod()
  }

  close(): void {
    this.#request = undefined
    this.#response = undefined
  }

  header(name: string): string {
    return this.#live().getHeader(name)
  }

  headerLines(name: string): string {
    const lines: string[] = []
    this.#live().forEach((key, value) => {
      if (key === name) lines.push(value)
    })
    return lines.join(',')
  }

  query(): string {
    return this.#live().getQuery() ?? ''
  }

  parameter(index: number): string {
    return this.#live().getParameter(index) ?? ''
  }

  address(): string {
    if (this.#response === undefined) throw new Error('the request is over')
    return Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1')
  }

  #live(): HttpRequest {
    if (this.#request === undefined) throw new Error('the request is over') // H1
    return this.#request
  }
}

type Done = (body: Uint8Array | Fault) => void

class UwsExchange extends Expiring implements Exchange {
  readonly #http: UwsHttp
  readonly #isHead: boolean
  /** Gone once aborted. */
  #response: HttpResponse | undefined
  #done: Done | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  #mustClose = false
  #isSettled = false

  constructor(http: UwsHttp, response: HttpResponse, isHead: boolean) {
    super()
    this.#http = http
    this.#response = response
    this.#isHead = isHead
    http.inFlight += 1
    response.onAborted(() => this.#abort())
  }

  readBody(maxBytes: number, done: Done): void {
    this.#done = done
    this.#http.deadlines.watch(this)
    this.#response?.onData((chunk, isLast) => this.#take(chunk, isLast, maxBytes))
  }

  #take(chunk: ArrayBuffer, isLast: boolean, maxBytes: number): void {
    if (this.#done === undefined) return
    const bytes = new Uint8Array(chunk)
    if (this.#bytes + bytes.length > maxBytes) return this.#finish(fault('body_too_large')) // H3
    if (isLast) {
      const isWhole = this.#chunks.length === 0
      return this.#finish(isWhole ? bytes : Buffer.concat([...this.#chunks, bytes]))
    }
    if (this.#http.bodyBytes + bytes.length > BODY_BYTES_MAX) {
      return this.#finish(fault('server_busy')) // H3
    }
    this.#chunks.push(Buffer.from(bytes)) // a copy: the library takes the chunk back
    this.#bytes += bytes.length
    this.#http.bodyBytes += bytes.length
  }

  #finish(body: Uint8Array | Fault): void {
    const done = this.#done
    this.#letGo()
    done?.(body)
  }

  expire(): void {
    this.#mustClose = true // H4
    this.#finish(fault('request_timeout'))
  }

  /** Nobody waits for the body any more: its chunks and its deadline go. */
  #letGo(): void {
    this.#done = undefined
    this.#http.deadlines.release(this)
    this.#http.bodyBytes -= this.#bytes
    this.#chunks = []
    this.#bytes = 0
  }

  #abort(): void {
    this.#response = undefined // H2
    if (this.#done === undefined) return
    this.#letGo()
    this.#settle()
  }

  reply(reply: Reply, requestId: string): void {
    if (this.#isSettled) return // H2
    this.#settle()
    const response = this.#response
    if (response !== undefined) response.cork(() => this.#write(response, reply, requestId))
  }

  #settle(): void {
    this.#isSettled = true
    this.#http.settled()
  }

  #write(response: HttpResponse, reply: Reply, requestId: string): void {
    if (reply.status !== 200) response.writeStatus(REASON[reply.status])
    response.writeHeader('content-type', reply.contentType)
    response.writeHeader('cache-control', 'no-store')
    response.writeHeader('x-request-id', requestId)
    for (const [name, value] of reply.headers) response.writeHeader(name, value)
    const mustClose = this.#mustClose || this.#http.isDraining
    if (!this.#isHead) {
      response.end(reply.body, mustClose)
      return
    }
    // The length is written here: given to the library, it would wait for a body as long.
    response.writeHeader('content-length', String(Buffer.byteLength(reply.body)))
    if (mustClose) response.writeHeader('connection', 'close')
    response.endWithoutBody()
  }
}
