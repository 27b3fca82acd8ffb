// Carries the session protocol over TCP: frames with a length, inside TLS or, behind a proxy that
// ends TLS, without. (decisions.md 10)
//
//   accepted ─▶ PROXY header, from a trusted proxy ─▶ TLS handshake ─▶ session
//        └───────────── late, broken, too many: cut ──────────┘
//
// Invariants:
//   tcp/1. Until its session begins a connection has one deadline, whatever it sends.
//   tcp/2. The listener reads a PROXY header from trusted proxies only; from any other peer it is a
//          broken frame.
//   tcp/3. The gateway closes an ended connection soon, also when the device reads nothing.

import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'

import { cannotListen } from '#domain/listen-address'
import type { Runtime } from '#domain/runtime'
import type { Slot } from '#domain/slots'
import type { Carrier, Listener, ReadCertificate, SessionHandle } from '#src/transports/carrier'
import { ALPN, FramedCarrier } from './framing.ts'
import type { ByteStream } from './framing.ts'
import type { ConnectionLimits, Refusal } from './connection-limits.ts'
import { readProxyHeader } from './proxy-protocol.ts'
import { HELLO_WITHIN_MS } from '#src/transports/signals'

export interface TcpPorts {
  readonly open: (carrier: Carrier) => SessionHandle
  readonly limits: ConnectionLimits
  readonly runtime: Pick<Runtime, 'after' | 'monotonicMs'>
}

export interface TcpOptions {
  readonly host: string
  readonly port: number
  /** Undefined without TLS. */
  readonly certificate: ReadCertificate | undefined
  readonly isTrustedProxy: (address: string) => boolean
}

/** Milliseconds before the operating system's first probe for a peer that may have vanished. */
const KEEP_ALIVE_MS = 60_000
/** Milliseconds from the end of a session to the end of its connection. (tcp/3) */
const LINGER_MS = 2_000
const BACKLOG = 4_096
const SETTING = 'SERVICE_PRIVATE_TCP_ADDR'

export const createTcpListener = (options: TcpOptions, ports: TcpPorts): Listener =>
  new TcpListener(options, ports)

/** A connection without a session yet. */
interface Opening {
  readonly socket: Socket
  readonly since: number
  address: string
  slot: Slot | undefined
  cancelDeadline: () => void
}

class TcpListener implements Listener {
  readonly carrier = 'tcp'
  readonly #options: TcpOptions
  readonly #ports: TcpPorts
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Connections in a TLS handshake, by the address and port of the peer. */
  readonly #handshakes = new Map<string, Opening>()
  #tls: TlsServer | undefined

  constructor(options: TcpOptions, ports: TcpPorts) {
    this.#options = options
    this.#ports = ports
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
    this.#server = createServer({ noDelay: true, ...keepAlive }, (socket) => {
      this.#accepted(socket)
    })
  }

  async listen(): Promise<number> {
    const { host, port, certificate } = this.#options
    if (certificate !== undefined) this.#tls = this.#tlsServer(certificate())
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => {
        const reason = 'code' in error ? String(error.code) : error.name
        reject(cannotListen({ host, port, setting: SETTING }, reason))
      })
      this.#server.listen({ host, port, backlog: BACKLOG, exclusive: true }, resolve)
    })
    const bound = this.#server.address()
    return typeof bound === 'object' && bound !== null ? bound.port : port
  }

  async reload(): Promise<void> {
    const { certificate } = this.#options
    if (certificate !== undefined) this.#tls?.setSecureContext(certificate())
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #tlsServer(certificate: { readonly cert: string; readonly key: string }): TlsServer {
    const options = { ...certificate, ALPNProtocols: [ALPN], handshakeTimeout: HELLO_WITHIN_MS }
    // It loads at its first use: most gateways have no listener for TCP.
    const server = process.getBuiltinModule('node:tls').createServer(options, (socket) => {
      const opening = this.#handshakes.get(peerOf(socket))
      if (opening === undefined) socket.destroy()
      else this.#begin(opening, socket)
    })
    server.on('tlsClientError', (_, socket) => {
      const opening = this.#handshakes.get(peerOf(socket))
      if (opening !== undefined) this.#refuse(opening, 'failed_handshake')
      socket.destroy()
    })
    return server
  }

  #accepted(socket: Socket): void {
    const address = socket.remoteAddress
    // `close` follows every error and handles it.
    socket.on('error', () => undefined)
    if (address === undefined) {
      socket.destroy()
      return
    }
    const { runtime } = this.#ports
    const opening: Opening = {
      socket,
      since: runtime.monotonicMs(),
      address: plain(address),
      slot: undefined,
      cancelDeadline: runtime.after(HELLO_WITHIN_MS, () => this.#refuse(opening, 'late')), // tcp/1
    }
    const peer = peerOf(socket)
    this.#sockets.add(socket)
    socket.once('close', () => {
      opening.cancelDeadline()
      opening.slot?.release()
      this.#sockets.delete(socket)
      this.#handshakes.delete(peer)
    })
    if (this.#options.isTrustedProxy(opening.address))
      this.#readHeader(opening) // tcp/2
    else this.#admit(opening)
  }

  #readHeader(opening: Opening): void {
    const { socket } = opening
    let bytes: Buffer = Buffer.alloc(0)
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      const header = readProxyHeader(bytes)
      if (header.kind === 'more') return
      socket.off('data', take)
      socket.pause()
      if (header.kind === 'broken') {
        this.#refuse(opening, 'broken_proxy_header')
        return
      }
      if (header.kind === 'header') {
        opening.address = plain(header.address ?? opening.address)
        bytes = bytes.subarray(header.length)
      }
      if (bytes.length > 0) socket.unshift(bytes)
      this.#admit(opening)
    }
    socket.on('data', take)
  }

  #admit(opening: Opening): void {
    const { socket, address } = opening
    const slot = this.#ports.limits.take(address)
    if (typeof slot === 'string') {
      socket.destroy()
      return
    }
    opening.slot = slot
    if (this.#tls === undefined) {
      this.#begin(opening, socket)
      return
    }
    this.#handshakes.set(peerOf(socket), opening)
    this.#tls.emit('connection', socket)
  }

  #refuse({ socket }: Opening, reason: Refusal): void {
    if (socket.destroyed) return
    this.#ports.limits.refused(reason)
    socket.destroy()
  }

  /** Begins the session. `socket` is the connection itself or TLS on top of it. */
  #begin({ address, since, cancelDeadline }: Opening, socket: Socket): void {
    cancelDeadline()
    const { runtime, open } = this.#ports
    const openingMs = runtime.monotonicMs() - since
    const stream = new SocketStream(socket, runtime)
    const carrier = new FramedCarrier({ kind: 'tcp', address, openingMs }, stream)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => carrier.received(chunk))
    socket.once('close', () => {
      stream.forget()
      carrier.closed()
    })
    carrier.begin(open)
    socket.resume()
  }
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
    this.#cancelLinger = this.#runtime.after(LINGER_MS, () => this.cut()) // tcp/3
  }

  cut(): void {
    this.#socket.destroy()
  }

  forget(): void {
    this.#cancelLinger()
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Gives an IPv4 address inside an IPv6 address as an IPv4 address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
