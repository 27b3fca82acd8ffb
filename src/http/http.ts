// Wraps uWebSockets.js, with its dangers, in one place.
//
// Invariants:
//   http/1. The request object dies when its handler returns: Head refuses to be read after that.

import type { HttpRequest, HttpResponse, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js'
import type { ListenAddress } from '#domain/listen-address'
import type { Timers } from '#domain/ports'
import { Applications } from './applications.ts'
import { socketAddressOf } from './client-address.ts'
import type { AddressSource, ClientAddress } from './client-address.ts'
import { Deadlines } from './deadlines.ts'
import { UwsExchange } from './exchange.ts'
import { HostRouter, HostRoutes, beginFor } from './router.ts'
import { commonHeaders } from './reply.ts'
import type { Header } from './reply.ts'
import type { Begin, Head, HostCheck, Method, Router, Begins } from './router.ts'
import type { TlsFiles } from './tls-check.ts'
import type { Traffic } from './traffic.ts'
import { Unread } from './unread.ts'
import { handshakeOf, socketBehavior } from './websocket.ts'
import type { Handshake, SocketData } from './websocket.ts'

export interface HttpOptions {
  readonly tls: TlsFiles | undefined
  /** True when callers know the gateway by an https address. */
  readonly isHttps?: boolean
  readonly timers: Timers
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number
  /** Reads the address of a caller, also behind a trusted proxy. */
  readonly clientAddress: ClientAddress
  /** True when other processes of this machine may bind the same port. */
  readonly isPortShared?: boolean
  /** The time for a whole body. The library itself cuts silent connections after 8 to 12 s. */
  readonly bodyTimeoutMs: number
  /** Called for each answer whose reader took too long. (exchange/5) */
  readonly answerCut?: () => void
  /** Told of each connection that becomes a WebSocket. */
  readonly upgraded?: () => void
}

export interface Http extends Router {
  /** Headers of every answer. */
  readonly commonHeaders: readonly Header[]
  /** Bytes of bodies that are still arriving. */
  readonly bodyBytes: number
  /** Large answers that callers have not read yet. */
  readonly unread: Pick<Unread, 'bytes'>
  /** Hands out requests for some hosts only; what it leaves goes on to other routers. */
  forHosts(isFor: HostCheck): Router
  /** Applies now, and to every application that takes the place of this one. */
  mount(apply: (app: TemplatedApp) => void): void
  /** Returns the bound port; rejects with a sentence for the operator when it cannot bind. */
  listen(address: ListenAddress): Promise<number>
  /**
   * Reads the certificate anew, for new connections. When it cannot be used, rejects with a
   * sentence for the operator and keeps the old one.
   */
  reload(): Promise<void>
  /** Answers that mounted handlers are streaming. */
  readonly mountedStreams: Pick<ReadonlySet<unknown>, 'size'>
  /**
   * From then on every answer closes its connection. Resolves when nothing is in flight; streams of
   * mounted handlers go on until `endMounted`.
   */
  drain(): Promise<void>
  /** Ends the streams of mounted handlers. */
  endMounted(): void
  /** Ends every connection, answered or not. */
  close(): void
}

/** Throws a sentence for the operator when certificate or key cannot be used. */
export function createHttp(options: HttpOptions): Http {
  return new UwsHttp(options)
}

const REGISTERS = {
  GET: 'get',
  HEAD: 'head',
  POST: 'post',
  PUT: 'put',
  DELETE: 'del',
  OPTIONS: 'options',
  any: 'any',
} as const

class UwsHttp implements Http, Traffic {
  readonly deadlines: Deadlines
  readonly unread: Unread
  readonly upgraded: () => void
  readonly commonHeaders: readonly Header[]
  isDraining = false
  inFlight = 0
  bodyBytes = 0
  readonly streams = new Set<AbortController>()
  readonly mountedStreams = new Set<AbortController>()
  readonly #head: UwsHead
  readonly #applications: Applications
  readonly #routes = new HostRoutes()
  readonly #timers: Timers
  #whenIdle: (() => void)[] = []

  constructor(options: HttpOptions) {
    const { tls, isPortShared, clientAddress, upgraded, isHttps = false, ...deadlines } = options
    this.upgraded = upgraded ?? (() => {})
    this.commonHeaders = commonHeaders(isHttps)
    this.#timers = deadlines.timers
    this.#head = new UwsHead(clientAddress)
    this.#applications = new Applications(tls, { isPortShared: isPortShared === true })
    this.deadlines = new Deadlines({ ...deadlines, timeoutMs: deadlines.bodyTimeoutMs })
    this.unread = new Unread(deadlines)
  }

  route(method: Method, pattern: string, begin: Begin, isFor?: HostCheck): void {
    const begins = this.#routes.add(`${method} ${pattern}`, begin, isFor)
    if (begins === undefined) return
    this.mount((app) => {
      app[REGISTERS[method]](pattern, (response, request) => {
        this.#begin(begins, { request, response, handshake: undefined })
      })
    })
  }

  socket(pattern: string, begin: Begin, isFor?: HostCheck): void {
    const begins = this.#routes.add(`socket ${pattern}`, begin, isFor)
    if (begins === undefined) return
    const behavior: WebSocketBehavior<SocketData> = {
      ...socketBehavior(this.#timers),
      upgrade: (response, request, context) => {
        this.#begin(begins, { request, response, handshake: handshakeOf(request, context) })
      },
    }
    this.mount((app) => app.ws(pattern, behavior))
  }

  #begin(begins: Begins, { request, response, handshake }: Arrived): void {
    const begin = beginFor(begins, () => request.getHeader('host'))
    if (begin === undefined) {
      request.setYield(true)
      return
    }
    const head = this.#head
    head.open(request, response)
    begin(head, new UwsExchange(this, response, { isHead: head.method === 'HEAD', handshake }))
    head.close() // http/1
  }

  forHosts(isFor: HostCheck): Router {
    return new HostRouter(this, isFor)
  }

  mount(apply: (app: TemplatedApp) => void): void {
    this.#applications.mount(apply)
  }

  listen(address: ListenAddress): Promise<number> {
    return this.#applications.listen(address)
  }

  reload(): Promise<void> {
    return this.#applications.reload()
  }

  drain(): Promise<void> {
    this.isDraining = true
    for (const stream of this.streams) stream.abort()
    if (this.inFlight === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  endMounted(): void {
    for (const stream of this.mountedStreams) stream.abort()
  }

  close(): void {
    this.deadlines.stop()
    this.unread.stop()
    this.#applications.close()
  }

  settled(): void {
    this.inFlight -= 1
    if (this.inFlight > 0) return
    for (const resolve of this.#whenIdle) resolve()
    this.#whenIdle = []
  }
}

interface Arrived {
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly handshake: Handshake | undefined
}

class UwsHead implements Head, AddressSource {
  method = ''
  readonly #clientAddress: ClientAddress
  #request: HttpRequest | undefined
  #response: HttpResponse | undefined

  constructor(clientAddress: ClientAddress) {
    this.#clientAddress = clientAddress
  }

  get address(): string {
    return this.#clientAddress(this)
  }

  get tellsAddress(): boolean {
    return this.#clientAddress.readsHeaders
  }

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

  allHeaders(): readonly Header[] {
    const lines: Header[] = []
    this.#live().forEach((name, value) => lines.push([name, value]))
    return lines
  }

  get target(): string {
    const query = this.query()
    const path = this.#live().getUrl()
    return query === '' ? path : `${path}?${query}`
  }

  query(): string {
    return this.#live().getQuery() ?? ''
  }

  parameter(index: number): string {
    return this.#live().getParameter(index) ?? ''
  }

  socketAddress(): string {
    if (this.#response === undefined) throw new Error('the request is over')
    return socketAddressOf(this.#response)
  }

  #live(): HttpRequest {
    if (this.#request === undefined) throw new Error('the request is over') // http/1
    return this.#request
  }
}
