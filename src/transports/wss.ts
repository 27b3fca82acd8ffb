// GET /private/ws: the session protocol in WebSocket text frames. (decisions.md 10)
//
// Invariants:
//   wss/1. A socket is never touched after its close event: from then on its carrier answers
//     `closed`.
//   wss/2. The bytes that uWebSockets.js holds for one socket are bounded; a socket beyond is cut.
//     The session stops long before (session-window/1), so only a device that reads nothing and
//     asks for much gets there.
//   wss/3. The request is read before the first return; only strings of it are kept.

import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket } from 'uWebSockets.js'

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { DEVICE_FRAME_BYTES_MAX, PROTOCOL, WSS_PATH } from '#src/schemas/frames'
import type { Carrier, Listener, SessionHandle } from './carrier.ts'
import { HELD_BYTES_MAX } from './framing.ts'
import type { Place, Places } from './places.ts'
import { HEARTBEAT_MS } from './signals.ts'

/** The source of a request, from which ingress reads the client's address. */
export interface AddressSource {
  socketAddress(): string
  headerLines(name: string): string
}

/** The HTTP listener, whose port and certificate serve WebSockets too. */
export interface WssHost {
  /** Applies now, and again to every application that replaces this one. */
  mount(apply: (app: TemplatedApp) => void): void
  /** Binds, once; gives the port. */
  listen(): Promise<number>
}

export interface WssPorts {
  readonly host: WssHost
  readonly open: (carrier: Carrier) => SessionHandle
  readonly places: Places
  /** The address of the device, also behind a trusted proxy. */
  readonly clientAddress: (source: AddressSource) => string
  /** The answer to an upgrade that is refused, in the form of every refusal. */
  readonly refuseUpgrade: (refusal: Fault, header: (name: string) => string) => UpgradeRefusal
  /** Called for each connection that becomes a WebSocket. */
  readonly upgraded: () => void
}

export interface UpgradeRefusal {
  readonly statusLine: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/**
 * Seconds after which the library closes a silent socket. The session has a heartbeat of its own;
 * this is for a socket whose session is stuck.
 */
const IDLE_SECONDS = Math.ceil((4 * HEARTBEAT_MS) / 1_000)

/** The library's answer to a send beyond the bound. */
const DROPPED = 2

/** The data that uWebSockets.js keeps with each socket: one name is all that it copies. */
interface Socket {
  readonly carrier: WssCarrier
}

/** Mounts the endpoint; the application answers every other request and owns the connections. */
export function createWssListener(ports: WssPorts): Listener {
  ports.host.mount((app) => serve(app, ports))
  return {
    carrier: 'wss',
    listen: () => ports.host.listen(),
    reload: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

/**
 * Beyond this size the library cuts the connection without a word; a device that sends a little too
 * much learns what is wrong.
 */
const CUT_BYTES = 2 * DEVICE_FRAME_BYTES_MAX

function serve(app: TemplatedApp, ports: WssPorts): void {
  const { open, places } = ports
  app.ws<Socket>(WSS_PATH, {
    maxPayloadLength: CUT_BYTES,
    maxBackpressure: HELD_BYTES_MAX, // wss/2
    closeOnBackpressureLimit: true, // wss/2
    idleTimeout: IDLE_SECONDS,
    // The session pings by itself, with frames that every carrier has.
    sendPingsAutomatically: false,
    upgrade: (response, request, context) => {
      const header = (name: string): string => request.getHeader(name)
      if (!offersProtocol(request)) {
        places.refused('missing_websocket_subprotocol')
        refuse(response, ports.refuseUpgrade(NO_SUBPROTOCOL, header))
        return
      }
      const address = ports.clientAddress(sourceOf(response, request))
      const place = places.take(address)
      if (typeof place === 'string') {
        refuse(
          response,
          ports.refuseUpgrade(fault(place, { retryAfterMs: RETRY_AFTER_MS }), header),
        )
        return
      }
      const carrier = new WssCarrier(address, request.getHeader('authorization'), place)
      const key = request.getHeader('sec-websocket-key')
      const extensions = request.getHeader('sec-websocket-extensions')
      response.upgrade<Socket>({ carrier }, key, PROTOCOL, extensions, context)
      ports.upgraded()
    },
    open: (ws) => ws.getUserData().carrier.begin(ws, open),
    message: (ws, message, isBinary) => {
      const { handle } = ws.getUserData().carrier
      if (isBinary) handle?.broken('not-text')
      else if (message.byteLength > DEVICE_FRAME_BYTES_MAX) handle?.broken('frame-too-big')
      else handle?.receive(Buffer.from(message).toString())
    },
    drain: (ws) => ws.getUserData().carrier.handle?.drained(ws.getBufferedAmount()),
    close: (ws) => ws.getUserData().carrier.closed(),
  })
}

class WssCarrier implements Carrier {
  readonly kind = 'wss'
  /** The HTTP listener has deadlines of its own for handshake and upgrade. */
  readonly openingMs = 0
  readonly address: string
  readonly authorization: string
  readonly #place: Place
  #handle: SessionHandle | undefined
  /** Undefined before the socket is open, and from its close event on. (wss/1) */
  #ws: WebSocket<Socket> | undefined

  constructor(address: string, authorization: string, place: Place) {
    this.address = address
    this.authorization = authorization
    this.#place = place
  }

  get handle(): SessionHandle | undefined {
    return this.#handle
  }

  /** Joins the socket with a session. */
  begin(ws: WebSocket<Socket>, open: WssPorts['open']): void {
    this.#ws = ws
    this.#handle = open(this)
  }

  /** Says that the socket is closed, by either side. */
  closed(): void {
    this.#ws = undefined // wss/1
    this.#place.release()
    this.#handle?.closed()
  }

  send(texts: readonly string[]): number | 'closed' {
    this.#ws?.cork(() => {
      for (const text of texts) {
        // Beyond the bound a text is dropped, so nothing may follow it. (wss/2)
        if (this.#ws?.send(text) === DROPPED) this.#ws.close()
      }
    })
    return this.#ws?.getBufferedAmount() ?? 'closed'
  }

  close(code: number, reason: string): void {
    this.#ws?.end(code, reason)
  }

  cut(): void {
    this.#ws?.close()
  }
}

function offersProtocol(request: HttpRequest): boolean {
  const offered = request.getHeader('sec-websocket-protocol').split(',')
  return offered.some((name) => name.trim() === PROTOCOL)
}

const decoder = new TextDecoder()

// wss/3
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

const RETRY_AFTER_MS = 5_000
const NO_SUBPROTOCOL = fault('missing_websocket_subprotocol')

function refuse(response: HttpResponse, { statusLine, headers, body }: UpgradeRefusal): void {
  response.cork(() => {
    response.writeStatus(statusLine)
    for (const [name, value] of headers) response.writeHeader(name, value)
    response.end(body)
  })
}
