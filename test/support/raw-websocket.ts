// A hand-made WebSocket, because only a bare socket can stop reading, and only a bare TLS socket
// can be given authorities to trust. Text frames, no fragments.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export class RawWebSocket {
  readonly socket: Socket
  readonly #onText: (text: string) => void
  #held = Buffer.alloc(0)

  private constructor(socket: Socket, onText: (text: string) => void) {
    this.socket = socket
    this.#onText = onText
  }

  /**
   * Opens a session socket; resolves after the upgrade. `ca`: the authorities to trust for `wss:`.
   */
  static async open(
    url: string,
    onText: (text: string) => void,
    ca?: string,
  ): Promise<RawWebSocket> {
    const { hostname, port, pathname, search, host, protocol } = new URL(url)
    const socket =
      protocol === 'wss:'
        ? connectTls({ host: hostname, port: Number(port), ...(ca !== undefined && { ca }) })
        : connect(Number(port), hostname)
    const raw = new RawWebSocket(socket, onText)
    socket.write(
      [
        `GET ${pathname}${search} HTTP/1.1`,
        `Host: ${host}`,
        'Upgrade: websocket',
        'Connection: Upgrade',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Protocol: heliograph.v1',
        '\r\n',
      ].join('\r\n'),
    )
    const [first] = (await once(socket, 'data')) as [Buffer]
    const end = first.indexOf('\r\n\r\n')
    if (!first.toString('latin1').startsWith('HTTP/1.1 101') || end < 0) {
      throw new Error(`no upgrade: ${first.toString('latin1', 0, 200)}`)
    }
    socket.on('data', (chunk: Buffer) => raw.#take(chunk))
    raw.#take(first.subarray(end + 4))
    return raw
  }

  send(text: string): void {
    const payload = Buffer.from(text)
    const length =
      payload.length < 126
        ? Buffer.from([0x80 | payload.length])
        : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 255])
    // A mask of zeros is a mask: the payload stays as it is.
    this.socket.write(Buffer.concat([Buffer.from([0x81]), length, Buffer.alloc(4), payload]))
  }

  #take(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk])
    for (let frame = frameAt(this.#held); frame !== undefined; frame = frameAt(this.#held)) {
      this.#held = this.#held.subarray(frame.end)
      if (frame.opcode === 1) this.#onText(frame.payload.toString())
    }
  }
}

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  readonly end: number
}

function frameAt(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined
  const short = (bytes[1] ?? 0) & 127
  const start = short === 126 ? 4 : short === 127 ? 10 : 2
  if (bytes.length < start) return undefined
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
  const end = start + length
  if (bytes.length < end) return undefined
  return { opcode: (bytes[0] ?? 0) & 15, payload: bytes.subarray(start, end), end }
}
