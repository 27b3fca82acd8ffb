// One HTTP/2 connection to a provider.
//
// Invariants:
//   connection/1. At most as many streams are open as the server allows. It says how many before
//                 the first one, and may change its mind.
//   connection/2. A connection that was told to go away, broke, or answers no ping has no room.

import { connect, constants } from 'node:http2'
import type { ClientHttp2Session, Settings } from 'node:http2'

import { Unanswered } from './exchange.ts'
import type { Exchange } from './exchange.ts'

const CONNECT_MS_MAX = 10_000
const PING_EVERY_MS = 60_000
/** Streams of one connection at most, whatever the server allows. */
const STREAMS_MAX = 500
/** Streams of a connection in all: their numbers end soon after. */
const STREAMS_EVER_MAX = 1_000_000_000

export interface ConnectionPorts {
  /** Called when there may be room. */
  readonly changed: () => void
  /** Takes an exchange back whose stream the server refused: it processed nothing of it. */
  readonly refused: (exchange: Exchange) => void
  /** Called once. `wasReady`: requests could be sent on it. */
  readonly ended: (wasReady: boolean, error: unknown) => void
}

export class Connection {
  readonly #session: ClientHttp2Session
  readonly #ports: ConnectionPorts
  /** Exchanges under way, and the functions that cancel them. */
  readonly #open = new Map<Exchange, () => void>()
  #opened = 0
  /** Streams that the server allows; undefined until it has said so. */
  #allowed: number | undefined
  /** Monotonic milliseconds of the opening or the last ping. */
  #checkedMs: number
  #isPingOut = false
  #error: unknown

  constructor(origin: string, nowMs: number, ports: ConnectionPorts) {
    this.#ports = ports
    this.#checkedMs = nowMs
    this.#session = connect(origin)
    this.#session.on('remoteSettings', (settings: Settings) => {
      this.#allowed = Math.min(STREAMS_MAX, settings.maxConcurrentStreams ?? STREAMS_MAX)
      ports.changed()
    })
    this.#session.on('error', (error) => {
      this.#error = error
    })
    this.#session.once('close', () => ports.ended(this.isReady, this.#error))
  }

  /** Streams that may be opened now. */
  get room(): number {
    const { closed, destroyed } = this.#session
    if (closed || destroyed) return 0 // connection/2
    return (this.#allowed ?? 0) - this.#open.size // connection/1
  }

  /** True once the server has said how many streams it allows. */
  get isReady(): boolean {
    return this.#allowed !== undefined
  }

  /** True while it connects or takes new requests. */
  get isLive(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  send(exchange: Exchange): void {
    const { path, headers, body } = exchange.request
    const stream = this.#session.request({ ...headers, ':method': 'POST', ':path': path })
    stream.on('response', (answer) => exchange.headersCame(answer))
    stream.on('data', (chunk: Buffer) => exchange.dataCame(chunk))
    stream.on('error', (error) => exchange.failed(error))
    stream.once('close', () => {
      this.#open.delete(exchange)
      exchange.failed(this.#error)
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) this.#ports.refused(exchange)
      else exchange.end()
      this.#ports.changed()
    })
    stream.end(body)
    this.#open.set(exchange, () => stream.close(constants.NGHTTP2_CANCEL))
    this.#opened += 1
    if (this.#opened >= STREAMS_EVER_MAX) this.close()
  }

  /** Ends exchanges that began before a time, and a connection that does not answer. */
  check(nowMs: number, beganBeforeMs: number): void {
    for (const [exchange, cancel] of this.#open) {
      if (exchange.beganMs >= beganBeforeMs) continue
      exchange.failed(Unanswered.late())
      cancel()
    }
    const sinceMs = nowMs - this.#checkedMs
    if (!this.isReady) {
      if (sinceMs >= CONNECT_MS_MAX) this.destroy(Unanswered.late())
    } else if (sinceMs >= PING_EVERY_MS && this.isLive) this.#ping(nowMs)
  }

  /** Ends once every stream has ended. */
  close(): void {
    this.#session.close()
  }

  destroy(error?: Error): void {
    this.#session.destroy(error)
  }

  #ping(nowMs: number): void {
    if (this.#isPingOut) return this.destroy(Unanswered.late()) // connection/2
    this.#checkedMs = nowMs
    this.#isPingOut = true
    this.#session.ping(() => {
      this.#isPingOut = false
    })
    return undefined
  }
}
