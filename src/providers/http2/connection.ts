// Carries requests to a provider over one HTTP/2 connection.
//
// Invariants:
//   push-connection/1. At most as many streams are open as the server allows. The server sends the
//     number before the first stream, and may change it later.
//   push-connection/2. A connection has no room after a GOAWAY, an error or an unanswered ping.

import { connect, constants } from 'node:http2'
import type { ClientHttp2Session, Settings } from 'node:http2'

import { Unanswered } from './exchange.ts'
import type { Exchange } from './exchange.ts'

const CONNECT_MS_MAX = 10_000
const PING_EVERY_MS = 60_000
/** Bound for the open streams of one connection, whatever the server allows. */
const STREAMS_MAX = 500
/** Bound for all streams that a connection ever opens: HTTP/2 has few more numbers for them. */
const STREAMS_EVER_MAX = 1_000_000_000

export interface ConnectionPorts {
  /** Called when there may be room. */
  readonly onRoom: () => void
  /** Called with an exchange whose stream the server refused before it processed anything. */
  readonly onRefused: (exchange: Exchange) => void
  /** Called once. `wasReady`: the connection could send requests. */
  readonly onEnd: (wasReady: boolean, error: unknown) => void
}

export class Connection {
  readonly #session: ClientHttp2Session
  readonly #ports: ConnectionPorts
  /** Exchanges in flight, and the functions that cancel them. */
  readonly #open = new Map<Exchange, () => void>()
  #opened = 0
  /** The number of streams that the server allows; undefined until the server sends it. */
  #allowed: number | undefined
  /** The time of the opening or of the last ping, in monotonic milliseconds. */
  #checkedMs: number
  #isPingOut = false
  #error: unknown

  constructor(origin: string, nowMs: number, ports: ConnectionPorts) {
    this.#ports = ports
    this.#checkedMs = nowMs
    this.#session = connect(origin)
    this.#session.on('remoteSettings', (settings: Settings) => {
      this.#allowed = Math.min(STREAMS_MAX, settings.maxConcurrentStreams ?? STREAMS_MAX)
      ports.onRoom()
    })
    this.#session.on('error', (error) => {
      this.#error = error
    })
    this.#session.once('close', () => ports.onEnd(this.isReady, this.#error))
  }

  /** The number of streams that the connection may open now. */
  get room(): number {
    const { closed, destroyed } = this.#session
    if (closed || destroyed) return 0 // push-connection/2
    return (this.#allowed ?? 0) - this.#open.size // push-connection/1
  }

  /** True once the server has sent the number of streams that it allows. */
  get isReady(): boolean {
    return this.#allowed !== undefined
  }

  /** True while the connection opens or accepts new requests. */
  get isLive(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  send(exchange: Exchange): void {
    const { path, headers, body } = exchange.request
    const stream = this.#session.request({ ...headers, ':method': 'POST', ':path': path })
    stream.on('response', (answer) => exchange.onHeaders(answer))
    stream.on('data', (chunk: Buffer) => exchange.onData(chunk))
    stream.on('error', (error) => exchange.fail(error))
    stream.once('close', () => {
      this.#open.delete(exchange)
      exchange.fail(this.#error)
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) this.#ports.onRefused(exchange)
      else exchange.end()
      this.#ports.onRoom()
    })
    stream.end(body)
    this.#open.set(exchange, () => stream.close(constants.NGHTTP2_CANCEL))
    this.#opened += 1
    if (this.#opened >= STREAMS_EVER_MAX) this.close()
  }

  /** Ends the exchanges that began before a time. Ends a connection that does not answer. */
  check(nowMs: number, beganBeforeMs: number): void {
    for (const [exchange, cancel] of this.#open) {
      if (exchange.beganMs >= beganBeforeMs) continue
      exchange.fail(Unanswered.late())
      cancel()
    }
    const sinceMs = nowMs - this.#checkedMs
    if (!this.isReady) {
      if (sinceMs >= CONNECT_MS_MAX) this.destroy(Unanswered.late())
    } else if (sinceMs >= PING_EVERY_MS && this.isLive) this.#ping(nowMs)
  }

  /** Ends the connection once every stream has ended. */
  close(): void {
    this.#session.close()
  }

  destroy(error?: Error): void {
    this.#session.destroy(error)
  }

  #ping(nowMs: number): void {
    if (this.#isPingOut) return this.destroy(Unanswered.late()) // push-connection/2
    this.#checkedMs = nowMs
    this.#isPingOut = true
    this.#session.ping(() => {
      this.#isPingOut = false
    })
    return undefined
  }
}
