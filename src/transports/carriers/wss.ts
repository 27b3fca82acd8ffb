// Carries the session protocol in WebSocket text frames, at GET /private/ws. (decisions.md 10)
//
// Invariants:
//   wss/1. A carrier never uses its socket after the close event: from then on it answers `closed`.
//   wss/2. The bytes that uWebSockets.js holds for one socket are bounded; beyond that it cuts the
//     socket. The session stops long before (session-window/1), so only a device that reads nothing
//     and causes many answers gets there.

import type { WebSocket } from 'uWebSockets.js'

import type { Listener } from '#src/doors/door'
import type { Slot } from '#domain/bounds/slots'
import { DEVICE_FRAME_BYTES_MAX, PROTOCOL, WSS_PATH } from '#src/schemas/frames'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import { HELD_BYTES_MAX } from './framing.ts'
import { mountEndpoint } from './upgrade.ts'
import type { Endpoint, Room, UpgradePorts, UpgradedClient } from './upgrade.ts'
import { HEARTBEAT_MS } from '#src/transports/signals'

export interface WssPorts extends UpgradePorts {
  readonly open: (carrier: Carrier) => SessionHandle
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

/**
 * Most devices send short frames. A frame is long when it names the cursors of many channels, and
 * one that is a little too long gets an error; beyond the room the library cuts the connection
 * without a message. (upgrade/2)
 */
const ROOMS: readonly [Room, Room] = [
  {
    messageBytesMax: DEVICE_FRAME_BYTES_MAX + 1_024,
    bounds: { total: 2_048, perAddress: 512 },
  },
  { messageBytesMax: 8_192, bounds: { total: Infinity, perAddress: Infinity } },
]

/** Mounts the endpoint; the application answers every other request and owns the connections. */
export function createWssListener(ports: WssPorts): Listener {
  mountEndpoint<Socket>(endpoint(ports.open), ports)
  return {
    name: 'wss',
    listen: () => ports.host.listen(),
    reload: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

const endpoint = (open: WssPorts['open']): Endpoint<Socket> => ({
  path: WSS_PATH,
  protocol: PROTOCOL,
  rooms: ROOMS,
  dataOf: (client) => ({ carrier: new WssCarrier(client) }),
  maxBackpressure: HELD_BYTES_MAX, // wss/2
  closeOnBackpressureLimit: true, // wss/2
  idleTimeout: IDLE_SECONDS,
  // The session pings by itself, with frames that every carrier has.
  sendPingsAutomatically: false,
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

  constructor({ address, authorization, slot }: UpgradedClient) {
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
