// One request to a handler written for node:http, and its answer. (Invariants: mount.ts)
//
//   exchange ─▶ node's client ══ connection in memory ══ node's server ─▶ handler
//
// Node's own client and server stand at the two ends of a connection within the process, so that a
// handler meets the objects it was written for, and back-pressure, aborts and broken answers go
// over that connection in both directions.

import { request as requestOf } from 'node:http'
import type { ClientRequest, IncomingMessage, Server } from 'node:http'
import { pipeline, Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { BodyRefused } from './arriving-body.ts'
import type { OpenBody } from './exchange.ts'
import { hasNoBody } from './reply.ts'
import type { Header, Reply, Stream } from './reply.ts'
import { LARGE_BYTES } from './unread.ts'

/** A request as it comes in. */
export interface Incoming extends OpenBody {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: readonly Header[]
  readonly address: string
}

/** Returns the answer once its head is there, or the refusal of the request's body. */
export async function answerOf(
  server: Server,
  incoming: Incoming,
  requestId: string,
): Promise<Answer<Reply>> {
  const response = await forward(server, incoming, requestId)
  if (isFault(response)) return response
  const { statusCode: status = 500, headers } = response
  const cache = headers['cache-control']
  const reply = {
    status,
    contentType: headers['content-type'],
    headers: answerHeaders(response),
    ...(cache !== undefined && { cache }),
  }
  const length = headers['content-length']
  if (incoming.method === 'HEAD') {
    const told: Header[] = length === undefined ? [] : [['content-length', length]]
    return { ...reply, headers: [...reply.headers, ...told], body: streamOf(response) }
  }
  const isShort = Number(length) < LARGE_BYTES || hasNoBody(status)
  return { ...reply, body: isShort ? await buffer(response) : streamOf(response) }
}

async function forward(
  server: Server,
  incoming: Incoming,
  requestId: string,
): Promise<Answer<IncomingMessage>> {
  const { body, over, address } = incoming
  const [near, far] = memoryConnection(address)
  const request = requestOver(near, incoming, requestId)
  if (isFault(request)) return request
  over.addEventListener('abort', () => request.destroy(), { once: true }) // mount/1
  const answered = Promise.withResolvers<IncomingMessage>()
  request.once('response', answered.resolve)
  request.on('error', answered.reject)
  server.emit('connection', far)
  // A body that fails makes the request fail, and with it the answer.
  pipeline(body, request, () => undefined)
  try {
    return await answered.promise
  } catch (error) {
    if (body.errored instanceof BodyRefused) return body.errored.fault
    if (over.aborted) return fault('request_timeout') // nobody is left to read it
    throw error
  }
}

function requestOver(
  connection: ConnectionEnd,
  { method, target, headers, address }: Incoming,
  requestId: string,
): Answer<ClientRequest> {
  try {
    return requestOf({
      method,
      path: target,
      headers: forwardedHeaders(headers, { address, requestId }), // mount/2
      setHost: false,
      createConnection: () => connection,
    })
  } catch {
    return fault('validation_failed', { detail: 'the path or a header is malformed' })
  }
}

/** Readers of an event stream skip it. */
const COMMENT = ':\n\n'

/**
 * The body of an answer. An event stream begins with a comment, because the head leaves together
 * with the first bytes only. It may end anywhere, because its reader drops an event that is not
 * whole (HTML standard, 9.2.6); any other body that is cut off fails. (mount/1)
 */
function streamOf(response: IncomingMessage): Stream {
  const isEvents = response.headers['content-type']?.startsWith('text/event-stream') === true
  return {
    isMounted: true,
    async *open(signal) {
      const end = (): unknown => response.destroy()
      signal.addEventListener('abort', end, { once: true })
      try {
        if (isEvents) yield COMMENT
        for await (const chunk of response) yield bytesOf(chunk)
        if (!response.complete && !isEvents) throw new Error('the answer was broken off')
      } catch (error) {
        if (!signal.aborted || !isEvents) throw error
      } finally {
        signal.removeEventListener('abort', end)
      }
    },
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  throw new TypeError('the answer gave no bytes')
}

/** One end. To a library it looks like the socket of a caller at `remoteAddress`. */
class ConnectionEnd extends Duplex {
  readonly remoteAddress: string
  #other: ConnectionEnd | undefined
  /** Called once the other end has read the bytes. */
  #taken: (() => void) | undefined

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  join(other: ConnectionEnd): void {
    this.#other = other
  }

  /** Takes what the other end wrote. */
  give(chunk: Buffer, taken: () => void): void {
    this.#taken = taken
    this.push(chunk)
  }

  override _read(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    // A stream that got no bytes does not ask for more, so `done` would never be called. (mount/4)
    if (chunk.length === 0) done()
    else this.#other?.give(chunk, done)
  }

  /** Ends once the other has read everything: until then this end is not closed. */
  override _final(done: () => void): void {
    this.#other?.once('end', done)
    this.#other?.push(null)
  }

  /** Takes the other end with it, as a broken connection does, unless both are through. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const other = this.#other
    if (other !== undefined && !(other.readableEnded && other.writableEnded)) other.destroy()
    this.#taken = undefined
    done(error)
  }
}

/** Both ends of a new connection. */
function memoryConnection(remoteAddress: string): readonly [ConnectionEnd, ConnectionEnd] {
  const ends = [new ConnectionEnd(remoteAddress), new ConnectionEnd(remoteAddress)] as const
  ends[0].join(ends[1])
  ends[1].join(ends[0])
  return ends
}

/** Headers of one connection, and those by which only the gateway says where a request is from. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
])

/** Facts that the gateway adds to a request. */
interface Origin {
  readonly address: string
  readonly requestId: string
}

/** The headers of a request as its handler gets them. Throws for those that node:http refuses. */
function forwardedHeaders(
  headers: readonly Header[],
  { address, requestId }: Origin,
): Record<string, string[]> {
  const forwarded: Record<string, string[]> = {}
  for (const [name, value] of headers) {
    // A character of node's headers is one byte.
    const bytes = Buffer.from(value).toString('latin1')
    if (!NOT_FORWARDED.has(name)) (forwarded[name] ??= []).push(bytes)
  }
  return { ...forwarded, 'x-forwarded-for': [address], 'x-request-id': [requestId] }
}

/** Headers that the exchange writes itself, and those of the connection to the handler. */
const NOT_ANSWERED = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'strict-transport-security',
  'transfer-encoding',
  'x-content-type-options',
  'x-request-id',
])

/** The headers of a handler's answer, each line for itself. */
const answerHeaders = ({ rawHeaders }: IncomingMessage): readonly Header[] =>
  rawHeaders.flatMap((name, at): Header[] => {
    const lower = name.toLowerCase()
    if (at % 2 === 1 || NOT_ANSWERED.has(lower)) return []
    return [[lower, Buffer.from(rawHeaders[at + 1] ?? '', 'latin1').toString()]]
  })
