// One request on its way to one answer, over uWebSockets.js.
//
// Invariants:
//   exchange/1. A response is used neither after it was answered nor after it was aborted.
//   exchange/2. A body is refused while it is read, as soon as it is known to be too large. The
//               bytes of all arriving bodies together are bounded, whatever pieces they come in
//               (gathered/1).
//   exchange/3. A body that does not arrive in time is answered and its connection closed.
//   exchange/4. A stream goes out as its reader takes it (streaming/1), and ends when the gateway
//               drains. A mounted handler's stream holds no drain up: it may go on until
//               everything else is answered.
//   exchange/5. Unread bytes of large answers are bounded over the process. A caller that takes too
//               long to read one, or one part of a stream, loses its connection.
//   exchange/6. At most MOUNTED_STREAMS_MAX answers of mounted handlers are streamed at once.

import type { HttpResponse } from 'uWebSockets.js'
import { Gathered } from '#domain/bounds/gathered'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { ARRIVING_BYTES_MAX, ArrivingBody, tooLarge } from './arriving-body.ts'
import { UNKNOWN, normaliseAddress, socketAddressOf } from './client-address.ts'
import { Expiring } from './deadlines.ts'
import { Streaming, httpParts } from './streaming.ts'
import type { Outlet } from './streaming.ts'
import { NO_STORE, hasNoBody, isStream, statusLine } from './reply.ts'
import type { Reply, Stream } from './reply.ts'
import { MOUNTED_STREAMS_MAX } from './traffic.ts'
import type { Traffic } from './traffic.ts'
import { isLarge } from './unread.ts'
import { outletOf, upgrade } from './websocket.ts'
import type { Handshake } from './websocket.ts'

export interface Exchange {
  /** The address of the socket; 'unknown' once the exchange is over. */
  readonly address: string
  /**
   * Reads the body and gives it once: the bytes live until `done` returns. Nothing after an abort.
   */
  readBody(maxBytes: number, done: (body: Uint8Array | Fault) => void): void
  /** Returns the body as a stream, in place of `readBody`; `over` aborts with the exchange. */
  openBody(maxBytes: number, hasBody: boolean): OpenBody
  /** True when there is room to hold an answer until its reader has taken it. (exchange/5) */
  hasRoomFor(reply: Reply): boolean
  /**
   * Answers. Must be called for every exchange, also after an abort; only the first call counts.
   * Returns a promise for a stream, which rejects when the stream fails. The stream that answers a
   * request for a WebSocket goes out in its frames.
   */
  reply(reply: Reply, requestId: string): Promise<void> | undefined
}

export interface OpenBody {
  readonly body: ArrivingBody
  /** Aborts once the exchange is over: answered, or its caller gone. */
  readonly over: AbortSignal
}

type Done = (body: Uint8Array | Fault) => void

/** The request's demands on its answer. */
export interface AnswerNeeds {
  /** The answer has no body. */
  readonly isHead: boolean
  /** It asks for a WebSocket. */
  readonly handshake: Handshake | undefined
}

export class UwsExchange extends Expiring implements Exchange {
  readonly #traffic: Traffic
  readonly #isHead: boolean
  readonly #handshake: Handshake | undefined
  /** Gone once aborted. */
  #response: HttpResponse | undefined
  #done: Done | undefined
  readonly #arrived = new Gathered()
  #mustClose = false
  #isSettled = false
  #streaming: { readonly streaming: Streaming; readonly outlet: Outlet } | undefined
  #open: { readonly body: ArrivingBody; readonly over: AbortController } | undefined
  /** Bytes of the answer that its reader has not taken yet. */
  #unread = 0

  constructor(traffic: Traffic, response: HttpResponse, { isHead, handshake }: AnswerNeeds) {
    super()
    this.#traffic = traffic
    this.#response = response
    this.#isHead = isHead
    this.#handshake = handshake
    traffic.inFlight += 1
    response.onAborted(() => this.#abort())
  }

  get address(): string {
    const response = this.#isSettled ? undefined : this.#response // exchange/1
    if (response === undefined) return UNKNOWN
    return normaliseAddress(socketAddressOf(response)) ?? UNKNOWN
  }

  readBody(maxBytes: number, done: Done): void {
    this.#done = done
    this.#traffic.deadlines.watch(this)
    this.#response?.onData((chunk, isLast) => this.#take(chunk, isLast, maxBytes))
  }

  openBody(maxBytes: number, hasBody: boolean): OpenBody {
    const body = new ArrivingBody(maxBytes, {
      traffic: this.#traffic,
      pause: () => this.#response?.pause(),
      resume: () => this.#response?.resume(),
      expired: () => (this.#mustClose = true), // exchange/3
    })
    const over = new AbortController()
    this.#open = { body, over }
    if (!hasBody) body.arrive(new Uint8Array(), true)
    else this.#response?.onData((chunk, isLast) => body.arrive(new Uint8Array(chunk), isLast))
    return { body, over: over.signal }
  }

  /** Ends the body's stream and aborts the handler. */
  #closeOpen(): void {
    this.#open?.body.destroy()
    this.#open?.over.abort()
    this.#open = undefined
  }

  #take(chunk: ArrayBuffer, isLast: boolean, maxBytes: number): void {
    if (this.#done === undefined) return
    const bytes = new Uint8Array(chunk)
    const { length } = this.#arrived
    if (length + bytes.length > maxBytes) return this.#finish(tooLarge(maxBytes)) // exchange/2
    if (isLast && length === 0) return this.#finish(bytes)
    if (!isLast && this.#traffic.bodyBytes + bytes.length > ARRIVING_BYTES_MAX) {
      return this.#finish(fault('server_busy')) // exchange/2
    }
    this.#arrived.add(bytes, maxBytes) // a copy: the library takes the chunk back
    this.#traffic.bodyBytes += bytes.length
    if (isLast) this.#finish(this.#arrived.bytes)
  }

  #finish(body: Uint8Array | Fault): void {
    const done = this.#done
    this.#letGo()
    done?.(body)
  }

  expire(): void {
    if (this.#unread > 0) {
      this.#traffic.unread.cut()
      if (this.#streaming === undefined) this.#response?.close() // exchange/5
      else this.#streaming.outlet.cut() // exchange/5
      return
    }
    this.#mustClose = true // exchange/3
    this.#finish(fault('request_timeout'))
  }

  /** Drops the bytes and the deadline of a body that nobody waits for any more. */
  #letGo(): void {
    this.#done = undefined
    this.#traffic.deadlines.release(this)
    this.#traffic.bodyBytes -= this.#arrived.length
    this.#arrived.clear()
  }

  #abort(): void {
    this.#response = undefined // exchange/1
    this.#streaming?.streaming.stop()
    this.#closeOpen()
    this.#holds(0)
    if (this.#done === undefined) return
    this.#letGo()
    this.#settle()
  }

  hasRoomFor({ body }: Reply): boolean {
    if (this.#isHead) return true
    const { mountedStreams, unread } = this.#traffic
    if (!isStream(body)) return unread.hasRoomFor(body)
    return body.isMounted !== true || mountedStreams.size < MOUNTED_STREAMS_MAX // exchange/6
  }

  reply(reply: Reply, requestId: string): Promise<void> | undefined {
    if (this.#isSettled) return undefined // exchange/1
    this.#isSettled = true
    const { body } = reply
    const response = this.#response
    if (response === undefined || this.#isHead || !isStream(body)) {
      this.#closeOpen()
      this.#traffic.settled()
      response?.cork(() => this.#write(response, reply, requestId))
      return undefined
    }
    const handshake = this.#handshake
    const streaming =
      handshake === undefined
        ? this.#stream(body, response, () => this.#writeHead(response, reply, requestId))
        : this.#streamFrames(body, response, handshake)
    if (body.isMounted !== true) return streaming.finally(() => this.#traffic.settled())
    this.#traffic.settled() // exchange/4: from now on it is one of the mounted streams
    return streaming
  }

  #settle(): void {
    this.#isSettled = true
    this.#traffic.settled()
  }

  #write(response: HttpResponse, reply: Reply, requestId: string): void {
    const { body } = reply
    this.#writeHead(response, reply, requestId)
    const mustClose = this.#mustClose || this.#traffic.isDraining
    if (!this.#isHead && !isStream(body) && !hasNoBody(reply.status)) {
      if (isLarge(body)) this.#send(response, bytesOf(body), mustClose)
      else response.end(body, mustClose)
      return
    }
    // Writes the length here: the library, given the length, would wait for that many bytes.
    if (!isStream(body) && !hasNoBody(reply.status)) {
      response.writeHeader('content-length', String(Buffer.byteLength(body)))
    }
    if (mustClose) response.writeHeader('connection', 'close')
    response.endWithoutBody()
  }

  #writeHead(response: HttpResponse, reply: Reply, requestId: string): void {
    if (reply.status !== 200) response.writeStatus(statusLine(reply.status))
    if (reply.contentType !== undefined) response.writeHeader('content-type', reply.contentType)
    response.writeHeader('cache-control', reply.cache ?? NO_STORE)
    response.writeHeader('x-request-id', requestId)
    for (const [name, value] of this.#traffic.commonHeaders) response.writeHeader(name, value)
    for (const [name, value] of reply.headers) response.writeHeader(name, value)
  }

  /** Hands a large answer to the library as its reader takes it and keeps the rest. (exchange/5) */
  #send(response: HttpResponse, body: Uint8Array, mustClose: boolean): void {
    if (mustClose) response.writeHeader('connection', 'close')
    const start = response.getWriteOffset()
    const advance = (sent: number): boolean => {
      const [isTaken, isDone] = response.tryEnd(body.subarray(sent), body.length)
      if (isDone) this.#response = undefined // exchange/1
      this.#holds(isDone ? 0 : body.length - (response.getWriteOffset() - start))
      return isTaken
    }
    response.onWritable((offset) => advance(offset - start))
    advance(0)
  }

  #holds(bytes: number): void {
    this.#traffic.unread.changed(this, this.#unread, bytes)
    this.#unread = bytes
  }

  /** exchange/4 */
  #stream(stream: Stream, response: HttpResponse, writeStart: () => void): Promise<void> {
    response.cork(writeStart)
    const streaming = new Streaming()
    let isFull = false
    response.onWritable(() => {
      response.cork(() => undefined) // The library sends what it holds of the last part here only.
      streaming.flow()
      return true
    })
    return this.#run(streaming, stream, {
      parts: (chunk) => httpParts(chunk, () => isFull),
      write: (part) => {
        response.cork(() => (isFull = !response.write(part)))
        return !isFull
      },
      end: () => {
        this.#closeOpen()
        // Told to close the connection, the library would write that header into the body.
        response.cork(() => response.end())
      },
      cut: () => response.close(),
    })
  }

  #streamFrames(stream: Stream, response: HttpResponse, handshake: Handshake): Promise<void> {
    this.#response = undefined // exchange/1: from here on there is a socket in its place
    const socket = upgrade(response, handshake)
    this.#traffic.upgraded()
    return this.#run(socket.streaming, stream, outletOf(socket))
  }

  #run(streaming: Streaming, stream: Stream, to: Omit<Outlet, 'holds'>): Promise<void> {
    const { streams, mountedStreams, isDraining } = this.#traffic
    const kin = stream.isMounted === true ? mountedStreams : streams
    const outlet = { ...to, holds: (bytes: number) => this.#holds(bytes) } // exchange/5
    this.#streaming = { streaming, outlet }
    if (isDraining && kin === streams) streaming.end()
    return streaming.run(stream, outlet, kin).finally(() => {
      this.#closeOpen()
      this.#streaming = undefined
    })
  }
}

const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === 'string' ? Buffer.from(body) : body
