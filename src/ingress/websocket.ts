// Streams over a WebSocket: each chunk is one text frame, and what the other side sends is ignored.
//
// Invariants:
//   websocket/1. A socket is never touched after its close event.
//   websocket/2. What the library holds for one socket is bounded: the stream waits until its
//                reader has taken what was written, and a socket beyond the bound is cut.

import type { HttpRequest, HttpResponse, WebSocket, us_socket_context_t } from 'uWebSockets.js'
import { Pouring } from './pouring.ts'
import type { Outlet } from './pouring.ts'

/** One that is poured into. */
export interface PouredSocket {
  readonly pouring: Pouring
  /** There from the upgrade on. */
  ws: WebSocket<Kept> | undefined
}

/** What the library keeps for us with each socket: it copies the members, not what they hold. */
export interface Kept {
  readonly socket: PouredSocket
}

/** What a request that asks for a WebSocket says of it; read while the request lives. */
export interface Handshake {
  readonly key: string
  readonly extensions: string
  readonly context: us_socket_context_t
}

export const handshakeOf = (request: HttpRequest, context: us_socket_context_t): Handshake => ({
  key: request.getHeader('sec-websocket-key'),
  extensions: request.getHeader('sec-websocket-extensions'),
  context,
})

const HELD_BYTES_MAX = 1024 * 1024
const DROPPED = 2
const FULL = 0
const GOING_AWAY = 1001

/** How the library serves these sockets. It pings, so a reader that is gone is found out. */
export const SOCKET_BEHAVIOR = {
  maxPayloadLength: 4_096,
  maxBackpressure: HELD_BYTES_MAX, // websocket/2
  closeOnBackpressureLimit: true, // websocket/2
  idleTimeout: 90,
  sendPingsAutomatically: true,
  open: (ws: WebSocket<Kept>): void => {
    ws.getUserData().socket.ws = ws
  },
  drain: (ws: WebSocket<Kept>): void => {
    if (ws.getBufferedAmount() === 0) ws.getUserData().socket.pouring.flow()
  },
  close: (ws: WebSocket<Kept>): void => {
    ws.getUserData().socket.pouring.stop() // websocket/1
  },
} as const

/** Makes a WebSocket of the connection. */
export function upgrade(
  response: HttpResponse,
  { key, extensions, context }: Handshake,
): PouredSocket {
  const socket: PouredSocket = { pouring: new Pouring(), ws: undefined }
  response.upgrade<Kept>({ socket }, key, '', extensions, context)
  return socket
}

export const outletOf = (socket: PouredSocket): Outlet => ({
  write: (chunk) => {
    let sent = DROPPED
    socket.ws?.cork(() => (sent = socket.ws?.send(chunk) ?? DROPPED))
    return sent !== FULL
  },
  end: () => socket.ws?.end(GOING_AWAY),
  cut: () => socket.ws?.close(),
})
