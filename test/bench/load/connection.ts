// One HTTP/1.1 keep-alive connection with one request in flight, as lean as node:net allows:
// prepared bytes out, and of the answer only the status and the length are read.

import { connect } from 'node:net'
import type { Socket } from 'node:net'

const READ_BYTES = 16_384
const CONTENT_LENGTH = /content-length: *(\d+)/i
const STATUS_OFFSET = 9

export interface ConnectionEvents {
  /** The answer to the request in flight has arrived whole. */
  answered(connection: Connection, status: number): void
  /** The connection ended; a request in flight will not be answered. */
  ended(connection: Connection): void
}

export class Connection {
  /** When the request in flight was due. */
  dueUs = 0
  isBusy = false
  readonly #socket: Socket
  readonly #events: ConnectionEvents
  #partial = ''
  /** Bytes of the body that are still to come, once the head was read. */
  #bodyLeft = 0
  #status = 0

  constructor(port: number, events: ConnectionEvents) {
    this.#events = events
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (byteCount, buffer) => {
          this.#read(byteCount, buffer)
          return true
        },
      },
    })
    // The cause does not matter here: `close` follows and tells whoever waits for `connected`.
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => events.ended(this))
  }

  connected(): Promise<void> {
    if (!this.#socket.connecting) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve)
      this.#socket.once('error', reject)
    })
  }

  send(bytes: Buffer): void {
    this.isBusy = true
    this.#socket.write(bytes)
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #read(byteCount: number, buffer: Uint8Array): void {
    if (this.#bodyLeft > 0) return this.#readBody(byteCount)
    const text =
      this.#partial + Buffer.from(buffer.buffer, buffer.byteOffset, byteCount).toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) {
      this.#partial = text
      return
    }
    this.#partial = ''
    this.#status = Number(text.slice(STATUS_OFFSET, STATUS_OFFSET + 3))
    this.#bodyLeft = Number(CONTENT_LENGTH.exec(text)?.[1] ?? 0)
    this.#readBody(text.length - headEnd - 4)
  }

  #readBody(byteCount: number): void {
    this.#bodyLeft -= byteCount
    if (this.#bodyLeft > 0) return
    this.#bodyLeft = 0
    this.isBusy = false
    this.#events.answered(this, this.#status)
  }
}
