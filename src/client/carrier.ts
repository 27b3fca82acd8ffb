// The port of carriers, which bring texts in both directions, in order, and the carrier over WSS.
// `heliograph/node` has TCP and QUIC, and an application may bring its own.

import { PROTOCOL, WSS_PATH } from '#src/schemas/frames'

/** The events of a connection. */
export interface CarrierEvents {
  /** Called when frames may be sent. */
  opened(): void
  /** Called with the text of one frame. */
  received(text: string): void
  /** Called once at the end, also for a connection that never opened. `reason` holds no secret. */
  closed(reason: string): void
}

/** One connection to the gateway. */
export interface Connection {
  /** Sends the text of one frame; does nothing after the end of the connection. */
  send(text: string): void
  /** Ends the connection. */
  close(): void
}

/** Opens a connection. It never throws, and calls no event before it has returned. */
export type Carrier = (events: CarrierEvents) => Connection

/**
 * A carrier over WebSocket. Throws TypeError for a base URL that is not one of http, https, ws or
 * wss.
 */
export function webSocketCarrier(baseUrl: string): Carrier {
  const url = `${baseUrl.replace(/\/+$/, '').replace(/^http/i, 'ws')}${WSS_PATH}`
  // `localhost:8080` is a URL too, with `localhost` as its scheme.
  if (!/^wss?:/i.test(url) || !URL.canParse(url)) {
    throw new TypeError('the base URL is not a valid URL')
  }
  return (events) => new SocketConnection(new WebSocket(url, PROTOCOL), events)
}

class SocketConnection implements Connection {
  readonly #socket: WebSocket

  constructor(socket: WebSocket, events: CarrierEvents) {
    this.#socket = socket
    let isOver = false
    const end = (reason: string): void => {
      if (isOver) return
      isOver = true
      events.closed(reason)
    }
    socket.addEventListener('open', () => events.opened())
    socket.addEventListener('message', ({ data }) => {
      if (typeof data === 'string') events.received(data)
    })
    socket.addEventListener('close', () => end('connection lost'))
    socket.addEventListener('error', () => end('connection failed'))
  }

  send(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text)
  }

  close(): void {
    this.#socket.close(1000)
  }
}
