// Carries the session protocol over QUIC: the device opens one bidirectional stream with frames
// that have a length. (decisions.md 10)
//
// Invariants:
//   quic/1. A connection without a stream has one deadline, and a device has one stream.
//   quic/2. The gateway closes an ended connection soon, also when the device reads nothing.

import { createHmac, timingSafeEqual } from 'node:crypto'

import Logger, { LogLevel } from '@matrixai/logger'
import { QUICServer, events } from '@matrixai/quic'
import type { QUICConnection, QUICStream } from '@matrixai/quic'

import { cannotListen } from '#domain/listen-address'
import type { Runtime } from '#domain/runtime'
import type { Carrier, Listener, ReadCertificate, SessionHandle } from '#src/transports/carrier'
import { ALPN, FramedCarrier } from './framing.ts'
import type { ByteStream } from './framing.ts'
import type { ConnectionSlot, ConnectionLimits } from './connection-limits.ts'
import { CLOSE, HELLO_WITHIN_MS, IDLE_MS } from '#src/transports/signals'

export interface QuicPorts {
  readonly open: (carrier: Carrier) => SessionHandle
  readonly limits: ConnectionLimits
  readonly runtime: Pick<Runtime, 'after' | 'entropy' | 'monotonicMs' | 'wait'>
}

export interface QuicOptions {
  readonly host: string
  readonly port: number
  readonly certificate: ReadCertificate
}

/** Milliseconds from a session's end to its connection's, for the last bytes. (quic/2) */
const LINGER_MS = 500
/** Bytes that a device may send before they are read: two of its largest frames. */
const RECEIVE_BYTES_MAX = 131_072
const STOP_WITHIN_MS = 2_000
const KEY_BYTES = 32
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

/** A device's connection, by the address and port of the peer. */
interface Joined {
  readonly connection: QUICConnection
  readonly since: number
  readonly address: string
  readonly slot: ConnectionSlot
  readonly cancelDeadline: () => void
  stream: DeviceStream | undefined
}

class QuicListener implements Listener {
  readonly carrier = 'quic'
  readonly #options: QuicOptions
  readonly #ports: QuicPorts
  readonly #joined = new Map<string, Joined>()
  /** Streams that the library reports before their connection. */
  readonly #early = new Map<string, QUICStream>()
  #server: QUICServer | undefined

  constructor(options: QuicOptions, ports: QuicPorts) {
    this.#options = options
    this.#ports = ports
  }

  async listen(): Promise<number> {
    const { host, port, certificate } = this.#options
    const server = new QUICServer({
      crypto: { key: arrayOf(this.#ports.runtime.entropy(KEY_BYTES)), ops: { sign, verify } },
      config: { ...BOUNDS, ...certificate() },
      minIdleTimeout: HELLO_WITHIN_MS,
      logger: new Logger(ALPN, LogLevel.SILENT, []),
    })
    server.addEventListener(events.EventQUICServerConnection.name, (event: Event) => {
      if (event instanceof events.EventQUICServerConnection) this.#connected(event.detail)
    })
    server.addEventListener(events.EventQUICConnectionStream.name, (event: Event) => {
      if (event instanceof events.EventQUICConnectionStream) this.#streamed(event.detail)
    })
    await server.start({ host, port }).catch((error: unknown) => {
      throw cannotListen({ host, port, setting: SETTING }, reasonOf(error))
    })
    this.#server = server
    return server.port
  }

  async reload(): Promise<void> {
    this.#server?.updateConfig({ ...this.#options.certificate() })
  }

  async close(): Promise<void> {
    const code = { isApp: true, errorCode: CLOSE.goingAway } as const
    const stopped = this.#server?.stop({ ...code, force: true }).catch(() => undefined)
    // It does not wait for peers that have vanished.
    await Promise.race([stopped, this.#ports.runtime.wait(STOP_WITHIN_MS)])
  }

  #connected(connection: QUICConnection): void {
    const { limits, runtime } = this.#ports
    const peer = peerOf(connection)
    const early = this.#early.get(peer)
    this.#early.delete(peer)
    const address = plain(connection.remoteHost)
    const slot = limits.take(address)
    if (typeof slot === 'string') {
      stop(connection, CLOSE.tryLater, slot)
      return
    }
    const cancelDeadline = runtime.after(HELLO_WITHIN_MS, () => {
      limits.refused('late') // quic/1
      stop(connection, CLOSE.policy, 'no hello')
    })
    const since = runtime.monotonicMs()
    const joined: Joined = { connection, since, address, slot, cancelDeadline, stream: undefined }
    this.#joined.set(peer, joined)
    const closed = (): void => {
      cancelDeadline()
      slot.release()
      joined.stream?.closed()
      if (this.#joined.get(peer) === joined) this.#joined.delete(peer)
    }
    connection.addEventListener(events.EventQUICConnectionClose.name, closed, { once: true })
    if (connection.closed) closed()
    else if (early !== undefined) this.#begin(joined, early)
  }

  #streamed(stream: QUICStream): void {
    const peer = peerOf(stream.meta)
    const joined = this.#joined.get(peer)
    if (joined === undefined) this.#early.set(peer, stream)
    else if (joined.stream === undefined) this.#begin(joined, stream)
    else stream.cancel()
  }

  #begin(joined: Joined, stream: QUICStream): void {
    const { runtime, open } = this.#ports
    const { connection, address, since, cancelDeadline } = joined
    cancelDeadline()
    const openingMs = runtime.monotonicMs() - since
    joined.stream = new DeviceStream(stream, connection, runtime)
    joined.stream.begin({ address, openingMs }, open)
  }
}

class DeviceStream implements ByteStream {
  held = 0
  readonly #stream: QUICStream
  readonly #connection: QUICConnection
  readonly #runtime: Pick<Runtime, 'after'>
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  #carrier: FramedCarrier | undefined
  #cancelLinger: () => void = () => undefined

  constructor(stream: QUICStream, connection: QUICConnection, runtime: Pick<Runtime, 'after'>) {
    this.#stream = stream
    this.#connection = connection
    this.#runtime = runtime
    this.#writer = stream.writable.getWriter()
    this.#writer.closed.catch(() => undefined)
  }

  begin(
    peer: { readonly address: string; readonly openingMs: number },
    open: (carrier: Carrier) => SessionHandle,
  ): void {
    this.#carrier = new FramedCarrier({ kind: 'quic', ...peer }, this)
    this.#carrier.begin(open)
    void this.#read(this.#carrier)
  }

  async #read(carrier: FramedCarrier): Promise<void> {
    try {
      for await (const chunk of this.#stream.readable) {
        carrier.received(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      }
    } catch {
      // The device has reset its stream, or the connection has ended.
    }
    // A device that ends its stream ends its session.
    stop(this.#connection, CLOSE.normal, '')
  }

  write(bytes: Buffer, sent: () => void): void {
    this.held += bytes.length
    this.#writer.write(bytes).then(
      () => {
        this.held -= bytes.length
        sent()
      },
      () => undefined,
    )
  }

  end(code: number, reason: string): void {
    this.#writer.close().catch(() => undefined)
    // quic/2
    this.#cancelLinger = this.#runtime.after(LINGER_MS, () => stop(this.#connection, code, reason))
  }

  cut(): void {
    stop(this.#connection, CLOSE.policy, 'too slow')
  }

  closed(): void {
    this.#cancelLinger()
    this.#carrier?.closed()
  }
}

function stop(connection: QUICConnection, errorCode: number, reason: string): void {
  const because = { isApp: true, errorCode, reason: new TextEncoder().encode(reason) } as const
  connection.stop({ ...because, force: true }).catch(() => undefined)
}

interface PeerAddress {
  readonly remoteHost: string
  readonly remotePort: number
}

const peerOf = ({ remoteHost, remotePort }: PeerAddress): string => `${remoteHost} ${remotePort}`

/** Gives an IPv4 address inside an IPv6 address as an IPv4 address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** The system's error code, which the library wraps in an error of its own. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  // The library wraps an unknown name in an error without a message.
  return 'code' in cause ? String(cause.code) : cause.message || cause.name
}

const arrayOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer

const digest = (key: ArrayBuffer, data: ArrayBuffer): Buffer =>
  createHmac('sha256', new Uint8Array(key)).update(new Uint8Array(data)).digest()

const sign = async (key: ArrayBuffer, data: ArrayBuffer): Promise<ArrayBuffer> =>
  arrayOf(digest(key, data))

async function verify(key: ArrayBuffer, data: ArrayBuffer, signature: ArrayBuffer) {
  const expected = digest(key, data)
  const given = new Uint8Array(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
