// Carries the session protocol over TCP: frames with a length. (decisions.md 10)
//
// Invariants:
//   tcp/1. The gateway closes an ended connection soon, also when the device reads nothing.

import type { Socket } from 'node:net'

import type { Listener, ReadCertificate } from '#src/doors/door'
import type { Runtime } from '#domain/runtime'
import { createSocketListener } from '#src/doors/sockets'
import type { SocketPeer, SocketPorts } from '#src/doors/sockets'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import { HELLO_WITHIN_MS } from '#src/transports/signals'
import { ALPN, FramedCarrier } from './framing.ts'
import type { ByteStream } from './framing.ts'

interface TcpPorts extends Pick<SocketPorts, 'limits' | 'runtime'> {
  readonly open: (carrier: Carrier) => SessionHandle
}

export interface TcpOptions {
  readonly host: string
  readonly port: number
  /** Undefined without TLS. */
  readonly certificate: ReadCertificate | undefined
  readonly isTrustedProxy: (address: string) => boolean
}

/** Milliseconds from the end of a session to the end of its connection. (tcp/1) */
const LINGER_MS = 2_000
const NAMES = { name: 'tcp', setting: 'SERVICE_PRIVATE_TCP_ADDR', alpn: ALPN } as const

export function createTcpListener(options: TcpOptions, ports: TcpPorts): Listener {
  return createSocketListener(
    { ...options, ...NAMES, openWithinMs: HELLO_WITHIN_MS },
    { ...ports, serve: (socket, peer) => serve(socket, peer, ports) },
  )
}

function serve(socket: Socket, peer: SocketPeer, { open, runtime, limits }: TcpPorts): void {
  const stream = new SocketStream(socket, runtime)
  const carrier = new FramedCarrier({ kind: 'tcp', ...peer }, stream, limits.arriving)
  socket.on('data', (chunk: Buffer) => carrier.received(chunk))
  socket.once('close', () => {
    stream.forget()
    carrier.closed()
  })
  carrier.begin(open)
}

class SocketStream implements ByteStream {
  readonly #socket: Socket
  readonly #runtime: Pick<Runtime, 'after'>
  #cancelLinger: () => void = () => undefined

  constructor(socket: Socket, runtime: Pick<Runtime, 'after'>) {
    this.#socket = socket
    this.#runtime = runtime
  }

  get held(): number {
    return this.#socket.writableLength
  }

  write(bytes: Buffer, sent: () => void): void {
    this.#socket.write(bytes, sent)
  }

  end(): void {
    this.#socket.end()
    this.#cancelLinger = this.#runtime.after(LINGER_MS, () => this.cut()) // tcp/1
  }

  cut(): void {
    this.#socket.destroy()
  }

  forget(): void {
    this.#cancelLinger()
  }
}
