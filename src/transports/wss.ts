// GET /private/ws: the session protocol in WebSocket text frames. (decisions.md 10)
//
// Invariants:
//   X1. A socket is never touched after its close event: from then on its carrier answers `closed`.
//   X2. What uWebSockets.js holds for one socket is bounded; a socket beyond the bound is cut. The
//       session stops long before (N1), so only a device that reads nothing and asks for much gets
//       there.
//   X3. The request is read before the first return; nothing of it is kept but strings.

import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket } from 'uWebSockets.js'

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { DEVICE_FRAME_BYTES_MAX, PROTOCOL, WSS_PATH } from '#src/schemas/frames'
import type { Carrier, SessionHandle } from './carrier.ts'
import type { Sessions } from './sessions.ts'
import { CLOSE, HEARTBEAT_MS, WINDOW_BYTES_MAX } from './signals.ts'

/** Where a request comes from, as the ingress reads it. */
export interface AddressSource {
  socketAddress(): string
  headerLines(name: string): string
}

export interface WssOptions {
  /** The address of the device, also behind a trusted proxy. */
  readonly clientAddress: (source: AddressSource) => string
  /** The answer to an upgrade that is refused, in the form of every refusal. */
  readonly refuseUpgrade: (refusal: Fault, header: (name: string) => string) => UpgradeRefusal
  /** Told of each connection that becomes a WebSocket. */
  readonly upgraded: () => void
}

export interface UpgradeRefusal {
  readonly statusLine: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** Four windows: entries, and whatever else a device can make the gateway say. (X2) */
const HELD_BYTES_MAX = 4 * WINDOW_BYTES_MAX
/** The session has a heartbeat of its own; this is for a socket whose session is stuck. */
const IDLE_SECONDS = Math.ceil((4 * HEARTBEAT_MS) / 1_000)

/** What the library answers to a send beyond the bound. */
const DROPPED = 2

/** What uWebSockets.js keeps for us with each socket. */
interface Socket {
  readonly address: string
  readonly authorization: string
  handle: SessionHandle | undefined
  /** X1 */
  isClosed: boolean
}

/** Mounts the endpoint; the application answers every other request. */
export function mountWss(app: TemplatedApp, sessions: Sessions, options: WssOptions): void {
  app.ws<Socket>(WSS_PATH, {
    maxPayloadLength: DEVICE_FRAME_BYTES_MAX,
    maxBackpressure: HELD_BYTES_MAX, // X2
    closeOnBackpressureLimit: true, // X2
    idleTimeout: IDLE_SECONDS,
    // The session pings by itself, with frames that every carrier has.
    sendPingsAutomatically: false,
    upgrade: (response, request, context) => {
      if (!offersProtocol(request)) {
        const header = (name: string): string => request.getHeader(name)
        refuse(response, options.refuseUpgrade(NO_SUBPROTOCOL, header))
        return
      }
      const socket: Socket = {
        address: options.clientAddress(sourceOf(response, request)),
        authorization: request.getHeader('authorization'),
        handle: undefined,
        isClosed: false,
      }
      const key = request.getHeader('sec-websocket-key')
      const extensions = request.getHeader('sec-websocket-extensions')
      response.upgrade(socket, key, PROTOCOL, extensions, context)
      options.upgraded()
    },
    open: (ws) => {
      const socket = ws.getUserData()
      socket.handle = sessions.open(new WssCarrier(ws, socket))
    },
    message: (ws, message, isBinary) => {
      if (isBinary) ws.end(CLOSE.unsupported, 'text frames only')
      else ws.getUserData().handle?.receive(Buffer.from(message).toString())
    },
    drain: (ws) => ws.getUserData().handle?.drained(ws.getBufferedAmount()),
    close: (ws) => {
      const socket = ws.getUserData()
      socket.isClosed = true // X1
      socket.handle?.closed()
    },
  })
}

class WssCarrier implements Carrier {
  readonly kind = 'wss'
  readonly address: string
  readonly authorization: string
  readonly #ws: WebSocket<Socket>
  readonly #socket: Socket

  constructor(ws: WebSocket<Socket>, socket: Socket) {
    this.#ws = ws
    this.#socket = socket
    this.address = socket.address
    this.authorization = socket.authorization
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.#socket.isClosed) return 'closed' // X1
    this.#ws.cork(() => {
      for (const text of texts) {
        if (this.#socket.isClosed) break
        // Beyond the bound a text is dropped, so nothing may follow it. (X2)
        if (this.#ws.send(text) === DROPPED) this.#ws.close()
      }
    })
    return this.#socket.isClosed ? 'closed' : this.#ws.getBufferedAmount()
  }

  close(code: number, reason: string): void {
    if (!this.#socket.isClosed) this.#ws.end(code, reason) // X1
  }

  cut(): void {
    if (!this.#socket.isClosed) this.#ws.close() // X1
  }
}

function offersProtocol(request: HttpRequest): boolean {
  const offered = request.getHeader('sec-websocket-protocol').split(',')
  return offered.some((name) => name.trim() === PROTOCOL)
}

const decoder = new TextDecoder()

// X3
function sourceOf(response: HttpResponse, request: HttpRequest): AddressSource {
  return {
    socketAddress: () => decoder.decode(response.getRemoteAddressAsText()),
    headerLines: (name) => {
      const lines: string[] = []
      request.forEach((key, value) => {
        if (key === name) lines.push(value)
      })
      return lines.join(', ')
    },
  }
}

const NO_SUBPROTOCOL = fault('missing_websocket_subprotocol')

function refuse(response: HttpResponse, { statusLine, headers, body }: UpgradeRefusal): void {
  response.cork(() => {
    response.writeStatus(statusLine)
    for (const [name, value] of headers) response.writeHeader(name, value)
    response.end(body)
  })
}
