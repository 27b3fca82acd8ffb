// Sessions over TCP, with TLS unless it is switched off: 4 bytes of length, then the JSON of a
// frame. (docs/session.md)

import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'

import type { Carrier, CarrierEvents, Connection } from '#src/client/carrier'

export interface TcpOptions {
  readonly host: string
  /** `transport.tcp_port` of the gateway's profile. */
  readonly port: number
  /**
   * Options of Node's TLS, for example `ca`. `off`: plain TCP, for networks that are private
   * already.
   */
  readonly tls?: ConnectionOptions | 'off'
}

const LENGTH_BYTES = 4
/** More bytes than any gateway sends in a frame: a peer that announces more is no gateway. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024
const ALPN = 'heliograph'

/** Sessions over TCP, for the option `carrier` of a device. */
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
  return connectTls({ servername: host, ...tls, host, port, ALPNProtocols: [ALPN] })
}

class TcpConnection implements Connection {
  readonly #socket: Socket
  readonly #events: CarrierEvents
  /** Bytes that are no whole frame yet. */
  #held: Buffer[] = []
  #heldBytes = 0
  #neededBytes = LENGTH_BYTES
  #isOpen = false

  constructor(socket: Socket, ready: 'connect' | 'secureConnect', events: CarrierEvents) {
    this.#socket = socket
    this.#events = events
    socket.setNoDelay(true)
    socket.once(ready, () => {
      this.#isOpen = true
      events.opened()
    })
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    // `close` follows; the text of an error may hold more than a log should.
    socket.on('error', () => undefined)
    socket.once('close', () =>
      events.closed(this.#isOpen ? 'connection lost' : 'connection failed'),
    )
  }

  send(text: string): void {
    if (!this.#isOpen || this.#socket.destroyed || !this.#socket.writable) return
    const bytes = Buffer.byteLength(text)
    const frame = Buffer.allocUnsafe(LENGTH_BYTES + bytes)
    frame.writeUInt32BE(bytes)
    frame.write(text, LENGTH_BYTES)
    this.#socket.write(frame)
  }

  close(): void {
    this.#socket.destroySoon()
  }

  #take(chunk: Buffer): void {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    // Pieces of one frame are joined once.
    if (this.#heldBytes < this.#neededBytes) return
    let rest = Buffer.concat(this.#held)
    for (;;) {
      this.#neededBytes = neededFor(rest)
      if (this.#neededBytes > LENGTH_BYTES + FRAME_BYTES_MAX) {
        this.#socket.destroy()
        return
      }
      if (rest.length < this.#neededBytes) break
      this.#events.received(rest.toString('utf8', LENGTH_BYTES, this.#neededBytes))
      rest = rest.subarray(this.#neededBytes)
    }
    this.#held = [rest]
    this.#heldBytes = rest.length
  }
}

/** The bytes of the first frame with its length, as far as they are known. */
const neededFor = (bytes: Buffer): number =>
  bytes.length < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + bytes.readUInt32BE()
