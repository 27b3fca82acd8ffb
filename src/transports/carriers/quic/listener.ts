// Carries the session protocol over QUIC: the device opens one bidirectional stream with frames
// that have a length. (decisions.md 10)
//
//   first datagram ─▶ Retry ─▶ token ─▶ slot ─▶ packet opens ─▶ handshake ─▶ stream ─▶ session
//           └──────────── unknown, stale, foreign, full, late: no connection ──────┘
//
// Invariants:
//   quic/1. A connection without a stream has one deadline from its first packet on, and a device
//           has one stream.
//   quic/2. A connection takes a slot before the library learns of it, and keeps it until the
//           library holds nothing of it.
//   quic/3. A first packet that does not open makes no connection.
//   quic/4. Connections without a stream are bounded, in total and from one address: the library
//           takes 105 KB for each, and a stranger can open many.
//   quic/5. Each connection counts with the bytes that the library may hold of its stream.

import type { RemoteInfo } from 'node:dgram'

import { events, native } from '@matrixai/quic'
import type { QUICConnection, QUICStream } from '@matrixai/quic'

import type { Listener, ReadCertificate } from '#src/doors/door'
import { cannotListen } from '#domain/listen-address'
import type { Runtime } from '#domain/runtime'
import { Slots } from '#domain/bounds/slots'
import type { Slot, SlotBounds } from '#domain/bounds/slots'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import type { ConnectionLimits } from '#src/doors/connection-limits'
import { ALPN } from '#src/transports/carriers/framing'
import { CLOSE, HELLO_WITHIN_MS, IDLE_MS } from '#src/transports/signals'
import { DeviceStream, stop } from './device-stream.ts'
import * as initial from './initial-packet.ts'
import { ID_BYTES, RetryTokens } from './retry-tokens.ts'
import { GuardedServer, GuardedSocket } from './server.ts'

interface QuicPorts {
  readonly open: (carrier: Carrier) => SessionHandle
  readonly limits: ConnectionLimits
  readonly runtime: Pick<Runtime, 'after' | 'entropy' | 'monotonicMs' | 'wait'>
}

export interface QuicOptions {
  readonly host: string
  readonly port: number
  readonly certificate: ReadCertificate
}

/** Connections without a stream: 42 MB at most. (quic/4) */
const UNOPENED: SlotBounds = { total: 400, perAddress: 100 }
/** Milliseconds for which an ended connection keeps its slot, at most: for its last datagrams. */
const DRAIN_MS = 10_000
/**
 * Bytes that a device may send before they are read. They are read at once, unless some of them are
 * missing: so the library may hold as many of each connection. (quic/5)
 */
const RECEIVE_BYTES_MAX = 16_384
const STOP_WITHIN_MS = 2_000
const SETTING = 'SERVICE_PRIVATE_QUIC_ADDR'

/** Settings that differ from the library's defaults. */
const BOUNDS = {
  applicationProtos: [ALPN],
  verifyPeer: false,
  // An attacker could replay early data.
  enableEarlyData: false,
  maxIdleTimeout: IDLE_MS,
  initialMaxStreamsBidi: 1, // quic/1
  initialMaxStreamsUni: 0,
  initialMaxData: RECEIVE_BYTES_MAX,
  initialMaxStreamDataBidiRemote: RECEIVE_BYTES_MAX,
  maxConnectionWindow: RECEIVE_BYTES_MAX,
  maxStreamWindow: RECEIVE_BYTES_MAX,
}

export const createQuicListener = (options: QuicOptions, ports: QuicPorts): Listener =>
  new QuicListener(options, ports)

/** A connection with a slot, from its first packet on. */
interface Admitted {
  readonly id: string
  readonly peer: string
  readonly address: string
  readonly since: number
  readonly slot: Slot
  /** Held until the connection has its stream. (quic/4) */
  readonly unopened: Slot
  /** Undefined during the handshake. */
  connection: QUICConnection | undefined
  /** A stream that the library reports before its connection. */
  early: QUICStream | undefined
  stream: DeviceStream | undefined
  cancelDeadline: () => void
}

class QuicListener implements Listener {
  readonly name = 'quic'
  readonly #options: QuicOptions
  readonly #ports: QuicPorts
  readonly #tokens: RetryTokens
  readonly #unopened = new Slots(UNOPENED)
  /** By the gateway's connection ID in hex. */
  readonly #byId = new Map<string, Admitted>()
  /** By the address and port of the peer: what a stream knows of its connection. */
  readonly #byPeer = new Map<string, Admitted>()
  readonly #socket: GuardedSocket
  #server: GuardedServer | undefined

  constructor(options: QuicOptions, ports: QuicPorts) {
    this.#options = options
    this.#ports = ports
    this.#tokens = new RetryTokens(ports.runtime)
    const { limits } = ports
    limits.reserves(() => limits.taken * RECEIVE_BYTES_MAX) // quic/5
    this.#socket = new GuardedSocket((datagram, remote, pass) =>
      this.#guard(datagram, remote, pass),
    )
  }

  async listen(): Promise<number> {
    const { host, port, certificate } = this.#options
    const config = { ...BOUNDS, ...certificate() }
    const server = new GuardedServer(this.#socket, this.#tokens, config)
    server.addEventListener(events.EventQUICServerConnection.name, (event: Event) => {
      if (event instanceof events.EventQUICServerConnection) this.#connected(event.detail)
    })
    server.addEventListener(events.EventQUICConnectionStream.name, (event: Event) => {
      if (event instanceof events.EventQUICConnectionStream) this.#streamed(event.detail)
    })
    await this.#socket.start({ host, port }).catch((error: unknown) => {
      throw cannotListen({ host, port, setting: SETTING }, reasonOf(error))
    })
    await server.start()
    this.#server = server
    return server.port
  }

  async reload(): Promise<void> {
    this.#server?.updateConfig({ ...this.#options.certificate() })
  }

  async close(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    const code = { isApp: true, errorCode: CLOSE.goingAway } as const
    const stopped = server.stop({ ...code, force: true }).catch(() => undefined)
    // It does not wait for peers that have vanished.
    await Promise.race([stopped, this.#ports.runtime.wait(STOP_WITHIN_MS)])
    await this.#socket.stop({ force: true }).catch(() => undefined)
  }

  /** Passes datagrams of known connections, and those that the library answers without state. */
  async #guard(datagram: Buffer, remote: RemoteInfo, pass: () => Promise<void>): Promise<void> {
    if (!initial.isLong(datagram)) {
      const id = datagram.toString('hex', 1, 1 + ID_BYTES)
      return this.#byId.has(id) ? pass() : undefined
    }
    const header = initial.readLongHeader(datagram)
    if (header === undefined) return
    if (this.#byId.has(header.destination.toString('hex'))) return pass()
    if (datagram.length < initial.FIRST_DATAGRAM_BYTES_MIN) return
    if (header.version !== initial.VERSION_1) {
      return native.quiche.versionIsSupported(header.version) ? undefined : pass()
    }
    if (!header.isInitial) return
    return header.token.length === 0 ? pass() : this.#first(datagram, header, remote, pass)
  }

  /** Takes a slot for a connection, lets the library open it, and frees the slot if it cannot. */
  async #first(
    datagram: Buffer,
    header: initial.LongHeader,
    remote: RemoteInfo,
    pass: () => Promise<void>,
  ): Promise<void> {
    const { limits, runtime } = this.#ports
    if (this.#tokens.read(header.token, remote.address, header.destination) === undefined) {
      limits.refused('failed_handshake')
      return
    }
    const address = plain(remote.address)
    const slot = limits.take(address) // quic/2
    if (typeof slot === 'string') {
      this.#socket.answer(initial.refusalOf(header, slot), remote)
      return
    }
    const unopened = this.#unopened.take(address)
    if (typeof unopened === 'string') {
      slot.release()
      limits.refused(unopened) // quic/4
      this.#socket.answer(initial.refusalOf(header, unopened), remote)
      return
    }
    if (!initial.isSealed(datagram, header)) {
      slot.release()
      unopened.release()
      limits.refused('failed_handshake') // quic/3
      return
    }
    const id = header.destination.toString('hex')
    const peer = `${remote.address} ${remote.port}`
    const since = runtime.monotonicMs()
    const nothing = { connection: undefined, early: undefined, stream: undefined }
    const cancelDeadline = (): void => undefined
    const slots = { slot, unopened }
    const admitted: Admitted = { id, peer, address, since, ...slots, ...nothing, cancelDeadline }
    this.#byId.set(id, admitted)
    this.#byPeer.set(peer, admitted)
    try {
      await pass()
    } finally {
      if (admitted.connection === undefined) {
        const isLate = runtime.monotonicMs() - since >= HELLO_WITHIN_MS
        limits.refused(isLate ? 'late' : 'failed_handshake')
        this.#forget(admitted)
      }
    }
  }

  #connected(connection: QUICConnection): void {
    const { limits, runtime } = this.#ports
    const admitted = this.#byId.get(connection.connectionId.toString())
    if (admitted === undefined) {
      stop(connection, CLOSE.tryLater, 'no slot')
      return
    }
    admitted.connection = connection
    const closed = (): void => {
      admitted.cancelDeadline()
      admitted.stream?.closed()
      const forget = (): void => this.#forget(admitted)
      admitted.cancelDeadline = runtime.after(DRAIN_MS, forget)
      // quic/2
      connection.addEventListener(events.EventQUICConnectionStopped.name, forget, { once: true })
    }
    connection.addEventListener(events.EventQUICConnectionClose.name, closed, { once: true })
    if (connection.closed) {
      this.#forget(admitted)
      return
    }
    const late = (): void => {
      limits.refused('late') // quic/1
      stop(connection, CLOSE.policy, 'no hello')
    }
    const remainingMs = HELLO_WITHIN_MS - (runtime.monotonicMs() - admitted.since)
    if (remainingMs <= 0) {
      late()
      return
    }
    admitted.cancelDeadline = runtime.after(remainingMs, late)
    const { early } = admitted
    admitted.early = undefined
    if (early !== undefined) this.#begin(admitted, connection, early)
  }

  #streamed(stream: QUICStream): void {
    const { remoteHost, remotePort } = stream.meta
    const admitted = this.#byPeer.get(`${remoteHost} ${remotePort}`)
    const isFree = admitted?.stream === undefined && admitted?.early === undefined
    if (admitted === undefined || !isFree) {
      stream.cancel() // quic/1
    } else if (admitted.connection === undefined) {
      admitted.early = stream
    } else this.#begin(admitted, admitted.connection, stream)
  }

  #begin(admitted: Admitted, connection: QUICConnection, stream: QUICStream): void {
    const { runtime, open, limits } = this.#ports
    const { address, since } = admitted
    admitted.cancelDeadline()
    admitted.unopened.release()
    const openingMs = runtime.monotonicMs() - since
    admitted.stream = new DeviceStream(stream, connection, runtime)
    admitted.stream.begin({ address, openingMs }, open, limits.arriving)
  }

  /** Frees the slot and what belongs to it. (quic/2) */
  #forget(admitted: Admitted): void {
    const { id, peer, early, slot, unopened } = admitted
    admitted.cancelDeadline()
    early?.cancel()
    slot.release()
    unopened.release()
    this.#byId.delete(id)
    if (this.#byPeer.get(peer) === admitted) this.#byPeer.delete(peer)
  }
}

/** Returns an IPv4 address inside an IPv6 address as an IPv4 address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** The system's error code, which the library wraps in an error of its own. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  // The library wraps an unknown name in an error without a message.
  return 'code' in cause ? String(cause.code) : cause.message || cause.name
}
