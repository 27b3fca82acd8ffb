// A hand-made device on a stream of bytes, which can break the protocol. Frames have a length of
// four bytes, as docs/session.md says.

import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'

import { QUICClient } from '@matrixai/quic'
import Logger, { LogLevel } from '@matrixai/logger'
import type { ExecutionContext } from 'ava'

import { realRuntime } from './real-runtime.ts'
import { until } from './until.ts'

/** A device that hears texts and says frames, texts or bytes. */
export interface Peer {
  readonly heard: readonly string[]
  readonly isClosed: boolean
  say(frame: object | string): void
  raw(bytes: Uint8Array): void
  hears(part: string): Promise<void>
  ends(): Promise<void>
  leave(): void
}

/** The bytes of a frame. */
export function framed(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(text))
  return Buffer.concat([length, Buffer.from(text)])
}

/** Bytes in, bytes out. */
export interface Pipe {
  write(bytes: Uint8Array): void
  leave(): void
}

export class FramedPeer implements Peer {
  readonly heard: string[] = []
  isClosed = false
  /** Called with each text, and at the end. */
  onText: (text: string) => void = () => undefined
  onClosed: () => void = () => undefined
  readonly #pipe: Pipe
  #held: Buffer = Buffer.alloc(0)

  constructor(pipe: Pipe) {
    this.#pipe = pipe
  }

  /** Bytes from the gateway. */
  take(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk])
    while (this.#held.length >= 4) {
      const end = 4 + this.#held.readUInt32BE()
      if (this.#held.length < end) return
      const text = this.#held.toString('utf8', 4, end)
      this.#held = this.#held.subarray(end)
      this.heard.push(text)
      this.onText(text)
    }
  }

  closed(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.onClosed()
  }

  say(frame: object | string): void {
    this.raw(framed(typeof frame === 'string' ? frame : JSON.stringify(frame)))
  }

  raw(bytes: Uint8Array): void {
    this.#pipe.write(bytes)
  }

  hears(part: string): Promise<void> {
    return until(`"${part}" arrives`, () => this.heard.some((text) => text.includes(part)))
  }

  ends(): Promise<void> {
    return until('the connection is closed', () => this.isClosed)
  }

  leave(): void {
    this.#pipe.leave()
  }
}

/** A device on a socket; `tls` asks for TLS. It is gone with the test. */
export async function tcpPeer(
  t: ExecutionContext,
  port: number,
  tls?: ConnectionOptions,
): Promise<FramedPeer & { readonly socket: Socket }> {
  const host = '127.0.0.1'
  const socket = tls === undefined ? connect({ port, host }) : connectTls({ port, host, ...tls })
  t.teardown(() => socket.destroy())
  const pipe = {
    write: (bytes: Uint8Array) => void (socket.destroyed || socket.write(bytes)),
    leave: () => void socket.destroy(),
  }
  const peer = new FramedPeer(pipe)
  socket.on('data', (chunk: Buffer) => peer.take(chunk))
  // A reset is one of the ways a connection ends.
  socket.on('error', () => undefined)
  socket.once('close', () => peer.closed())
  await once(socket, tls === undefined ? 'connect' : 'secureConnect')
  return Object.assign(peer, { socket })
}

/** A QUIC connection that trusts everybody. It is gone with the test. */
export async function quicClient(t: ExecutionContext, port: number): Promise<QUICClient> {
  const randomBytes = async (data: ArrayBuffer): Promise<void> =>
    new Uint8Array(data).set(realRuntime.entropy(data.byteLength))
  const client = await QUICClient.createQUICClient({
    host: '127.0.0.1',
    port,
    crypto: { ops: { randomBytes } },
    config: { verifyPeer: false, applicationProtos: ['heliograph'], maxIdleTimeout: 60_000 },
    logger: new Logger('peer', LogLevel.SILENT, []),
  })
  t.teardown(() => client.destroy({ force: true }).catch(() => undefined))
  return client
}

/** A device over QUIC. It is gone with the test. */
export async function quicPeer(t: ExecutionContext, port: number): Promise<FramedPeer> {
  const client = await quicClient(t, port)
  const stream = client.connection.newStream('bidi')
  const writer = stream.writable.getWriter()
  writer.closed.catch(() => undefined)
  const peer = new FramedPeer({
    write: (bytes) => void writer.write(bytes).catch(() => undefined),
    leave: () => void client.destroy({ force: true }).catch(() => undefined),
  })
  void (async () => {
    try {
      for await (const chunk of stream.readable) peer.take(Buffer.from(chunk))
    } catch {
      // Reset by the gateway.
    }
    peer.closed()
  })()
  return peer
}

/** A device on a WebSocket. */
export async function wssPeer(t: ExecutionContext, url: string): Promise<Peer> {
  const socket = new WebSocket(url, 'heliograph.v1')
  t.teardown(() => socket.close())
  const heard: string[] = []
  const isClosed = (): boolean => socket.readyState === WebSocket.CLOSED
  socket.addEventListener('message', ({ data }) => heard.push(String(data)))
  await once(socket, 'open')
  return {
    heard,
    get isClosed() {
      return isClosed()
    },
    say: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    raw: (bytes) => socket.send(new Uint8Array(bytes)),
    hears: (part) => until(`"${part}" arrives`, () => heard.some((text) => text.includes(part))),
    ends: () => until('the socket is closed', isClosed),
    leave: () => socket.close(),
  }
}
