// A listener for connections over TCP: with TLS or, behind a proxy that ends TLS, without.
//
//   accepted ─▶ PROXY header, from a trusted proxy ─▶ slot ─▶ TLS handshake ─▶ the door's protocol
//        └───────────── late, broken, too many: cut ─────────────┘
//
// Invariants:
//   sockets/1. Until its protocol begins a connection has one deadline, whatever it sends.
//   sockets/2. The listener reads a PROXY header from trusted proxies only; from any other peer it
//              is a broken frame.

import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'

import type { Listener, ReadCertificate } from './door.ts'
import { cannotListen } from '#domain/listen-address'
import type { Runtime } from '#domain/runtime'
import type { Slot, SlotRefusal } from '#domain/bounds/slots'
import type { ConnectionLimits, Refusal } from './connection-limits.ts'
import { readProxyHeader } from './proxy-protocol.ts'

/** The peer of a connection. */
export interface SocketPeer {
  /** The address of the caller, also behind a trusted proxy. */
  readonly address: string
  /** Milliseconds from the connection to its protocol. */
  readonly openingMs: number
}

export interface SocketPorts {
  /**
   * Begins the protocol on a connection, whose bytes wait until the socket is read. The socket has
   * a handler for errors; its `close` ends everything.
   */
  readonly serve: (socket: Socket, peer: SocketPeer) => void
  /** The farewell to a connection without a slot, where there is no TLS. */
  readonly farewell?: (refusal: SlotRefusal) => string
  readonly limits: ConnectionLimits
  readonly runtime: Pick<Runtime, 'after' | 'monotonicMs'>
}

interface SocketOptions {
  readonly name: string
  readonly host: string
  readonly port: number
  /** The setting that has the address, for the operator. */
  readonly setting: string
  readonly alpn: string
  /** Milliseconds for PROXY header and TLS handshake. (sockets/1) */
  readonly openWithinMs: number
  /** Undefined without TLS. */
  readonly certificate: ReadCertificate | undefined
  readonly isTrustedProxy: (address: string) => boolean
}

/** Milliseconds before the operating system's first probe for a peer that may have vanished. */
const KEEP_ALIVE_MS = 60_000
const BACKLOG = 4_096

export function createSocketListener(options: SocketOptions, ports: SocketPorts): Listener {
  const listener = new SocketListener(options, ports)
  return {
    name: options.name,
    listen: () => listener.listen(),
    reload: () => listener.reload(),
    close: () => listener.close(),
  }
}

/** A connection whose protocol has not begun. */
interface OpeningConnection {
  readonly socket: Socket
  readonly since: number
  address: string
  slot: Slot | undefined
  cancelDeadline: () => void
}

class SocketListener {
  readonly #options: SocketOptions
  readonly #ports: SocketPorts
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Connections in a TLS handshake, by the address and port of the peer. */
  readonly #handshakes = new Map<string, OpeningConnection>()
  #tls: TlsServer | undefined

  constructor(options: SocketOptions, ports: SocketPorts) {
    this.#options = options
    this.#ports = ports
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
    this.#server = createServer({ noDelay: true, ...keepAlive }, (socket) => {
      this.#accepted(socket)
    })
  }

  async listen(): Promise<number> {
    const { host, port, setting, certificate } = this.#options
    if (certificate !== undefined) this.#tls = this.#tlsServer(certificate())
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => {
        const reason = 'code' in error ? String(error.code) : error.name
        reject(cannotListen({ host, port, setting }, reason))
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
    const { alpn, openWithinMs } = this.#options
    const options = { ...certificate, ALPNProtocols: [alpn], handshakeTimeout: openWithinMs }
    // It loads at its first use: most gateways have no such listener.
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
    const opening: OpeningConnection = {
      socket,
      since: runtime.monotonicMs(),
      address: plain(address),
      slot: undefined,
      // sockets/1
      cancelDeadline: runtime.after(this.#options.openWithinMs, () =>
        this.#refuse(opening, 'late'),
      ),
    }
    const peer = peerOf(socket)
    this.#sockets.add(socket)
    socket.once('close', () => {
      opening.cancelDeadline()
      opening.slot?.release()
      this.#sockets.delete(socket)
      this.#handshakes.delete(peer)
    })
    if (this.#options.isTrustedProxy(opening.address)) this.#readHeader(opening) // sockets/2
    else this.#admit(opening)
  }

  #readHeader(opening: OpeningConnection): void {
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

  #admit(opening: OpeningConnection): void {
    const { socket, address } = opening
    const slot = this.#ports.limits.take(address)
    if (typeof slot === 'string') {
      const farewell = this.#tls === undefined ? this.#ports.farewell?.(slot) : undefined
      if (farewell !== undefined) socket.write(farewell)
      socket.destroySoon()
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

  #refuse({ socket }: OpeningConnection, reason: Refusal): void {
    if (socket.destroyed) return
    this.#ports.limits.refused(reason)
    socket.destroy()
  }

  /** Begins the protocol. `socket` is the connection itself or TLS on top of it. */
  #begin({ address, since, cancelDeadline }: OpeningConnection, socket: Socket): void {
    cancelDeadline()
    const { runtime, serve } = this.#ports
    socket.on('error', () => undefined)
    serve(socket, { address, openingMs: runtime.monotonicMs() - since })
    socket.resume()
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Returns an IPv4 address inside an IPv6 address as an IPv4 address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
