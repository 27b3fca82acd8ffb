// Serves HTTP/2 in place of a push service: collects whole requests, gives its owner's answers, and
// can fail like a real service.

import { createServer as createHttpServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { constants, createServer as createHttp2Server } from 'node:http2'
import type { Http2Server, Http2Session, ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Server as TlsServer, TLSSocket } from 'node:tls'

import type { Certificate } from '#src/dev/servers/certificate'

export interface PushRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export interface PushAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; absent for an answer without a body. */
  readonly body?: object
}

export interface StandInOptions {
  readonly certificate: Certificate
  /** Bound for the open streams of one connection; 1000 by default. */
  readonly streamsMax?: number
  /** By default 0: the system chooses a free port. */
  readonly port?: number
}

/** The milliseconds before an answer, or `hang` for no answer at all. */
export type Latency = number | 'hang'

export class StandIn {
  /** The delay of every answer. */
  latency: Latency = 0
  /** Makes the answers over HTTP/2. */
  answer: (request: PushRequest) => PushAnswer = () => ({ status: 503 })
  /** Makes the answers over HTTP/1.1. */
  answerPlain: RequestListener = (_, response) => response.writeHead(505).end()
  /** The number of next streams that it refuses without processing them. */
  streamsToRefuse = 0
  /** The number of connections so far. */
  accepted = 0
  readonly #tls: TlsServer
  readonly #http2: Http2Server
  readonly #plain: Server
  readonly #sessions = new Set<Http2Session>()
  readonly #sockets = new Set<TLSSocket>()
  /** Functions that answer the open streams, by connection. */
  readonly #open = new Map<Http2Session, Set<() => void>>()

  private constructor(tls: TlsServer, streamsMax: number) {
    this.#tls = tls
    this.#http2 = createHttp2Server({ settings: { maxConcurrentStreams: streamsMax } })
    this.#plain = createHttpServer((request, response) => this.answerPlain(request, response))
    tls.on('secureConnection', (socket) => this.#accept(socket))
    tls.on('tlsClientError', () => undefined)
    this.#http2.on('session', (session) => this.#track(session))
    this.#http2.on('sessionError', () => undefined)
    this.#http2.on('stream', (stream, headers) => this.#receive(stream, headers))
  }

  static async listen(options: StandInOptions): Promise<StandIn> {
    const { certificate, streamsMax = 1_000, port = 0 } = options
    const tls = createTlsServer({
      key: certificate.key,
      cert: certificate.certificate,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    const standIn = new StandIn(tls, streamsMax)
    await new Promise<void>((resolve) => tls.listen(port, '127.0.0.1', resolve))
    return standIn
  }

  get port(): number {
    return (this.#tls.address() as AddressInfo).port
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#sessions.size
  }

  /** The number of requests without an answer so far. */
  get unanswered(): number {
    return [...this.#open.values()].reduce((sum, open) => sum + open.size, 0)
  }

  /** Answers all open requests, and sends GOAWAY on every connection, which then ends. */
  goAway(): void {
    for (const session of this.#sessions) {
      for (const answerNow of this.#open.get(session) ?? []) answerNow()
      if (session.destroyed) continue
      session.goaway(constants.NGHTTP2_NO_ERROR)
      session.close()
    }
  }

  /** Breaks every connection, so that open requests get no answer. */
  breakConnections(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Reads nothing more from the open connections, so that the clients get no answer on them. */
  goSilent(): void {
    for (const socket of this.#sockets) socket.pause()
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#tls.close(() => resolve()))
    this.breakConnections()
    await closed
  }

  #accept(socket: TLSSocket): void {
    this.accepted += 1
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => undefined)
    if (socket.alpnProtocol !== 'h2') this.#plain.emit('connection', socket)
    else this.#http2.emit('connection', socket)
  }

  #track(session: Http2Session): void {
    this.#sessions.add(session)
    session.on('close', () => {
      this.#sessions.delete(session)
      this.#open.delete(session)
    })
    session.on('error', () => undefined)
  }

  #receive(stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>): void {
    const chunks: Buffer[] = []
    stream.on('error', () => undefined)
    if (this.streamsToRefuse > 0) {
      this.streamsToRefuse -= 1
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const request = {
        method: String(headers[':method']),
        path: String(headers[':path']),
        headers: headers as PushRequest['headers'],
        body: Buffer.concat(chunks).toString(),
      }
      this.#answerLater(stream, () => this.answer(request))
    })
  }

  /** Makes the answer when it sends it, so that a request without an answer does not count. */
  #answerLater(stream: ServerHttp2Stream, make: () => PushAnswer): void {
    const { session } = stream
    if (session === undefined) return
    const open = this.#open.get(session) ?? new Set()
    this.#open.set(session, open)
    let timer: NodeJS.Timeout | undefined
    const answerNow = (): void => {
      clearTimeout(timer)
      open.delete(answerNow)
      if (!stream.destroyed && !session.closed) respond(stream, make())
    }
    stream.on('close', () => {
      clearTimeout(timer)
      open.delete(answerNow)
    })
    if (this.latency === 0) return answerNow()
    open.add(answerNow)
    if (this.latency !== 'hang') timer = setTimeout(answerNow, this.latency)
    return undefined
  }
}

function respond(stream: ServerHttp2Stream, { status, headers, body }: PushAnswer): void {
  const text = body === undefined ? '' : JSON.stringify(body)
  stream.respond(
    { ':status': status, ...headers, ...(text !== '' && { 'content-type': 'application/json' }) },
    { endStream: text === '' },
  )
  if (text !== '') stream.end(text)
}
