// Carries the session protocol in WebSocket text frames, at GET /private/ws. (decisions.md 10)
//
// Invariants:
//   wss/1. A carrier never uses its socket after the close event: from then on it answers `closed`.
//   wss/2. The bytes that uWebSockets.js holds for one socket are bounded; beyond that it cuts the
//     socket. The session stops long before (session-window/1), so only a device that reads nothing
//     and causes many answers gets there.
//   wss/3. The listener reads the request before it returns to the library, and keeps only strings.

import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket } from 'uWebSockets.js'

import type { Listener } from '#src/doors/door'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Slot } from '#domain/bounds/slots'
import { DEVICE_FRAME_BYTES_MAX, PROTOCOL, WSS_PATH } from '#src/schemas/frames'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import { HELD_BYTES_MAX } from './framing.ts'
import type { ConnectionLimits } from '#src/doors/connection-limits'
import { HEARTBEAT_MS } from '#src/transports/signals'

/** The parts of a request from which ingress reads the client's address. */
export interface AddressSource {
  socketAddress(): string
  headerLines(name: string): string
}

/** The HTTP listener, whose port and certificate serve WebSockets too. */
export interface WssHost {
  /** Calls `apply` now, and again with every application that replaces this one. */
  mount(apply: (app: TemplatedApp) => void): void
  /** Binds the port once and gives it. */
  listen(): Promise<number>
}

export interface WssPorts {
  readonly host: WssHost
  readonly open: (carrier: Carrier) => SessionHandle
  readonly limits: ConnectionLimits
  /** The address of the device, also behind a trusted proxy. */
  readonly clientAddress: (source: AddressSource) => string
  /** The answer to a refused upgrade, in the form of every refusal. */
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
 * this limit is for a session that hangs.
 */
const IDLE_SECONDS = Math.ceil((4 * HEARTBEAT_MS) / 1_000)

/** The library's answer to a send beyond the bound. */
const DROPPED = 2

/** The data that uWebSockets.js keeps with each socket; it copies the members, here one. */
interface Socket {
  readonly carrier: WssCarrier
}

/** Mounts the endpoint; the application answers every other request and owns the connections. */
export function createWssListener(ports: WssPorts): Listener {
  ports.host.mount((app) => serve(app, ports))
  return {
    name: 'wss',
    listen: () => ports.host.listen(),
    reload: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

/**
 * Beyond this size the library cuts the connection without a message. A device whose frame is a
 * little too big gets an error.
 */
const CUT_BYTES = 2 * DEVICE_FRAME_BYTES_MAX

function serve(app: TemplatedApp, ports: WssPorts): void {
  const { open, limits } = ports
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
        limits.refused('missing_websocket_subprotocol')
        refuse(response, ports.refuseUpgrade(NO_SUBPROTOCOL, header))
        return
      }
      const address = ports.clientAddress(sourceOf(response, request))
      const slot = limits.take(address)
      if (typeof slot === 'string') {
        refuse(response, ports.refuseUpgrade(fault(slot, { retryAfterMs: RETRY_AFTER_MS }), header))
        return
      }
      const carrier = new WssCarrier(address, request.getHeader('authorization'), slot)
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
  readonly #slot: Slot
  #handle: SessionHandle | undefined
  /** Undefined before the socket is open, and from its close event on. (wss/1) */
  #ws: WebSocket<Socket> | undefined

  constructor(address: string, authorization: string, slot: Slot) {
    this.address = address
    this.authorization = authorization
    this.#slot = slot
  }

  get handle(): SessionHandle | undefined {
    return this.#handle
  }

  /** Joins the socket with a session. */
  begin(ws: WebSocket<Socket>, open: WssPorts['open']): void {
    this.#ws = ws
    this.#handle = open(this)
  }

  /** Ends the session, since either side has closed the socket. */
  closed(): void {
    this.#ws = undefined // wss/1
    this.#slot.release()
    this.#handle?.closed()
  }

  send(texts: readonly string[]): number | 'closed' {
    this.#ws?.cork(() => {
      for (const text of texts) {
        // The library drops a text beyond the bound, so no text may follow it. (wss/2)
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

/** Returns the address of a request; callers use it before they return. (wss/3) */
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
