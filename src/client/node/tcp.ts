// The carrier over TCP, with TLS unless an option turns it off. (docs/session.md)

import { connect, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'

import type { Carrier, CarrierEvents, Connection } from '#src/client/carrier'
import { ALPN, FrameReader, framed } from './frames.ts'

export interface TcpOptions {
  readonly host: string
  /** `transport.tcp_port` of the gateway's profile. */
  readonly port: number
  /**
   * Options of Node's TLS, for example `ca`. `off`: plain TCP, for networks that are already
   * private.
   */
  readonly tls?: ConnectionOptions | 'off'
}

/** Makes a carrier over TCP, for the option `carrier` of a device. */
export const tcpCarrier =
  (options: TcpOptions): Carrier =>
  (events) =>
    new TcpConnection(
      socketOf(options),
      options.tls === 'off' ? 'connect' : 'secureConnect',
      events,
    )

function socketOf({ host, port, tls }: TcpOptions): Socket {
  if (tls === 'off') return connect({ host, port })
  // An IP address is no server name (RFC 6066): the certificate is compared with `host` then.
  const name = isIP(host) === 0 ? { servername: host } : {}
  return connectTls({ ...name, ...tls, host, port, ALPNProtocols: [ALPN] })
}

class TcpConnection implements Connection {
  readonly #socket: Socket
  #isOpen = false

  constructor(socket: Socket, ready: 'connect' | 'secureConnect', events: CarrierEvents) {
    this.#socket = socket
    const reader = new FrameReader((text) => events.received(text))
    socket.setNoDelay(true)
    socket.once(ready, () => {
      this.#isOpen = true
      events.opened()
    })
    socket.on('data', (chunk: Buffer) => {
      if (!reader.take(chunk)) socket.destroy()
    })
    // `close` follows and reports the end, without the error's text, which may hold secrets.
    let why = ''
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      why = code === undefined ? '' : ` (${code})`
    })
    socket.once('close', () =>
      events.closed(this.#isOpen ? 'connection lost' : `connection failed${why}`),
    )
  }

  send(text: string): void {
    if (!this.#isOpen || this.#socket.destroyed || !this.#socket.writable) return
    this.#socket.write(framed(text))
  }

  close(): void {
    this.#socket.destroySoon()
  }
}
