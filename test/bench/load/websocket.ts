// The WebSocket client of a subscriber: reads and sends text frames, answers pings. Frames are
// handed on as slices of the socket's own buffer.

import { connect } from 'node:net'
import type { Socket } from 'node:net'

const READ_BYTES = 1 << 18
const OPCODE = { text: 0x81, pong: 0x8a, ping: 0x89, close: 0x88 } as const

export interface WebSocketEvents {
  /** A whole text frame; the bytes are valid during the call only. */
  text(bytes: Buffer): void
  /** Everything that came with one read has been handed on. */
  readEnded(): void
  closed(): void
}

export interface WebSocketTarget {
  readonly port: number
  readonly path: string
  readonly subprotocol: string
  readonly token: string
}

export class LeanWebSocket {
  readonly #socket: Socket
  readonly #events: WebSocketEvents
  #rest: Buffer = Buffer.alloc(0)
  #isUpgraded = false
  #upgraded: (() => void) | undefined

  constructor({ port, path, subprotocol, token }: WebSocketTarget, events: WebSocketEvents) {
    this.#events = events
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer,
        callback: (byteCount) => {
          this.#read(buffer.subarray(0, byteCount))
          return true
        },
      },
    })
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => events.closed())
    const authorization = token === '' ? '' : `authorization: Bearer ${token}\r\n`
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}upgrade: websocket\r\nconnection: Upgrade\r\n` +
        `sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n` +
        `sec-websocket-protocol: ${subprotocol}\r\n\r\n`,
    )
  }

  /** Resolves when the server has agreed to the upgrade. */
  upgraded(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isUpgraded) resolve()
      else this.#upgraded = resolve
    })
  }

  /** Sends texts as one write. */
  send(texts: readonly string[]): void {
    this.#socket.write(Buffer.concat(texts.map((text) => frameOf(OPCODE.text, Buffer.from(text)))))
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.#isUpgraded) {
      const headEnd = bytes.indexOf('\r\n\r\n')
      if (headEnd >= 0) this.#finishUpgrade(bytes.toString('latin1', 0, headEnd))
      bytes = headEnd < 0 ? bytes : bytes.subarray(headEnd + 4)
    }
    const used = this.#isUpgraded ? this.#frames(bytes) : 0
    this.#rest = used === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(used))
    this.#events.readEnded()
  }

  #finishUpgrade(head: string): void {
    if (!head.startsWith('HTTP/1.1 101')) throw new Error(`no upgrade: ${head.split('\r\n')[0]}`)
    this.#isUpgraded = true
    this.#upgraded?.()
  }

  /** Hands on every whole frame; gives how many bytes they took. */
  #frames(bytes: Buffer): number {
    let start = 0
    for (;;) {
      const frame = frameAt(bytes, start)
      if (frame === undefined) return start
      this.#frame(bytes[start] ?? 0, bytes.subarray(frame.from, frame.to))
      start = frame.to
    }
  }

  #frame(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.text) this.#events.text(payload)
    else if (opcode === OPCODE.ping) this.#socket.write(frameOf(OPCODE.pong, payload))
    else if (opcode === OPCODE.close) this.#socket.destroy()
  }
}

/**
 * The bounds of the payload of the frame at `start`; undefined when it is not whole. Frames of
 * servers are unmasked.
 */
export function frameAt(bytes: Buffer, start: number): { from: number; to: number } | undefined {
  if (bytes.length < start + 2) return undefined
  const short = (bytes[start + 1] ?? 0) & 127
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0
  if (bytes.length < start + 2 + extended) return undefined
  const length =
    extended === 0
      ? short
      : extended === 2
        ? bytes.readUInt16BE(start + 2)
        : Number(bytes.readBigUInt64BE(start + 2))
  const from = start + 2 + extended
  return bytes.length < from + length ? undefined : { from, to: from + length }
}

/** A client frame under the mask 0, which leaves the payload as it is. */
export function frameOf(opcode: number, payload: Buffer): Buffer {
  const isLong = payload.length > 125
  const head = Buffer.alloc(isLong ? 8 : 6)
  head[0] = opcode
  head[1] = 128 | (isLong ? 126 : payload.length)
  if (isLong) head.writeUInt16BE(payload.length, 2)
  return Buffer.concat([head, payload])
}
