// Streams over a WebSocket: each chunk is one text frame. Frames of the other side are ignored.
//
// Invariants:
//   websocket/1. A socket is never touched after its close event.
//   websocket/2. The bytes that the library holds for one socket are bounded: the stream waits
//                until they are sent, and a socket beyond the bound is cut.

import type { HttpRequest, HttpResponse, WebSocket, us_socket_context_t } from 'uWebSockets.js'
import { Streaming } from './streaming.ts'
import type { Timers } from '#domain/ports'
import type { Outlet } from './streaming.ts'

/** A socket that a stream goes to. */
export interface StreamedSocket {
  readonly streaming: Streaming
  /** There from the upgrade on. */
  ws: WebSocket<SocketData> | undefined
}

/** Data that the library keeps with each socket. It copies the members, not the objects in them. */
export interface SocketData {
  readonly socket: StreamedSocket
}

/** The parts of a WebSocket's request that its upgrade needs; read while the request lives. */
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

/** The library's settings for these sockets. It pings, so it notices a reader that is gone. */
export const socketBehavior = ({ after }: Pick<Timers, 'after'>) => ({
  maxPayloadLength: 4_096,
  maxBackpressure: HELD_BYTES_MAX, // websocket/2
  closeOnBackpressureLimit: true, // websocket/2
  idleTimeout: 90,
  sendPingsAutomatically: true,
  open: (ws: WebSocket<SocketData>): void => {
    ws.getUserData().socket.ws = ws
  },
  drain: (ws: WebSocket<SocketData>): void => {
    if (ws.getBufferedAmount() > 0) return
    // Not within this event: the library reports no drain of what is sent in it. (websocket/2)
    const { streaming } = ws.getUserData().socket
    after(0, () => streaming.flow())
  },
  close: (ws: WebSocket<SocketData>): void => {
    ws.getUserData().socket.streaming.stop() // websocket/1
  },
})

/** Makes a WebSocket of the connection. */
export function upgrade(
  response: HttpResponse,
  { key, extensions, context }: Handshake,
): StreamedSocket {
  const socket: StreamedSocket = { streaming: new Streaming(), ws: undefined }
  response.upgrade<SocketData>({ socket }, key, '', extensions, context)
  return socket
}

export const outletOf = (socket: StreamedSocket): Omit<Outlet, 'holds'> => ({
  parts: (chunk) => [chunk],
  write: (chunk) => {
    let sent = DROPPED
    socket.ws?.cork(() => (sent = socket.ws?.send(chunk) ?? DROPPED))
    return sent !== FULL
  },
  end: () => socket.ws?.end(GOING_AWAY),
  cut: () => socket.ws?.close(),
})
