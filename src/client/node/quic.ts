// The carrier over QUIC: one bidirectional stream, with the frames of TCP. (docs/session.md)
//
// Invariants:
//   sdk-quic/1. A connection reports its end once, also when it ends before it opens.

import type { QUICClient } from '@matrixai/quic'

import type { Carrier, CarrierEvents, Connection } from '#src/client/carrier'
import { WEB } from '#src/client/runtime'
import { ALPN, FrameReader, framed } from './frames.ts'

export interface QuicOptions {
  readonly host: string
  /** `transport.quic_port` of the gateway's profile. */
  readonly port: number
  /** The DNS name in the gateway's certificate, where it is not `host`. An address matches none. */
  readonly serverName?: string
  /** Certificates to trust in place of the system's, as PEM. */
  readonly ca?: string
}

const OPEN_WITHIN_MS = 10_000
/** The same as the gateway's: heartbeats come more often. */
const IDLE_MS = 75_000

/**
 * Makes a carrier over QUIC, for the option `carrier` of a device. The library has native code for
 * some platforms only; elsewhere connections fail.
 */
export const quicCarrier =
  (options: QuicOptions): Carrier =>
  (events) =>
    new QuicConnection(options, events)

class QuicConnection implements Connection {
  readonly #events: CarrierEvents
  #client: QUICClient | undefined
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined
  #isOver = false

  constructor(options: QuicOptions, events: CarrierEvents) {
    this.#events = events
    this.#run(options).then(
      () => this.#end('connection lost'),
      (error: unknown) => {
        const why = error instanceof Error ? ` (${error.name})` : ''
        this.#end(this.#writer === undefined ? `connection failed${why}` : 'connection lost')
      },
    )
  }

  send(text: string): void {
    if (!this.#isOver) this.#writer?.write(framed(text)).catch(() => undefined)
  }

  close(): void {
    const leave = async (): Promise<void> => {
      await this.#writer?.close()
      await this.#client?.destroy()
    }
    leave().catch(() => undefined)
    queueMicrotask(() => this.#end('connection lost'))
  }

  /** Resolves or rejects at the end of the connection. */
  async #run(options: QuicOptions): Promise<void> {
    const client = await open(options)
    this.#client = client
    if (this.#isOver) return
    const stream = client.connection.newStream('bidi')
    this.#writer = stream.writable.getWriter()
    this.#writer.closed.catch(() => undefined)
    const reader = new FrameReader((text) => void (this.#isOver || this.#events.received(text)))
    this.#events.opened()
    for await (const chunk of stream.readable) {
      if (!reader.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) return
    }
  }

  /** Reports the end. (sdk-quic/1) */
  #end(reason: string): void {
    this.#client?.destroy({ force: true }).catch(() => undefined)
    if (this.#isOver) return
    this.#isOver = true
    this.#events.closed(reason)
  }
}

async function open({ host, port, serverName, ca }: QuicOptions): Promise<QUICClient> {
  // It loads on demand, since some platforms have no native code for it.
  const { QUICClient: Client } = await import('@matrixai/quic')
  const { default: Logger, LogLevel } = await import('@matrixai/logger')
  const config = { verifyPeer: true, applicationProtos: [ALPN], maxIdleTimeout: IDLE_MS }
  return await Client.createQUICClient(
    {
      host,
      port,
      ...(serverName !== undefined && { serverName }),
      crypto: { ops: { randomBytes } },
      config: { ...config, ...(ca !== undefined && { ca }) },
      logger: new Logger(ALPN, LogLevel.SILENT, []),
    },
    { timer: OPEN_WITHIN_MS },
  )
}

async function randomBytes(data: ArrayBuffer): Promise<void> {
  new Uint8Array(data).set(WEB.entropy(data.byteLength))
}
