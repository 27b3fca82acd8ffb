// A device's one stream, and the end of its connection.
//
// Invariants:
//   device-stream/1. The gateway closes an ended connection soon, also when the device reads
//                    nothing.

import type { QUICConnection, QUICStream } from '@matrixai/quic'

import type { Arriving } from '#src/doors/arriving'
import type { Runtime } from '#domain/runtime'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import { FramedCarrier } from '#src/transports/carriers/framing'
import type { ByteStream } from '#src/transports/carriers/framing'
import { CLOSE } from '#src/transports/signals'

/** Milliseconds from a session's end to its connection's, for the last bytes. (device-stream/1) */
const LINGER_MS = 500

export class DeviceStream implements ByteStream {
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
    arriving: Arriving,
  ): void {
    this.#carrier = new FramedCarrier({ kind: 'quic', ...peer }, this, arriving)
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
    // device-stream/1
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

export function stop(connection: QUICConnection, errorCode: number, reason: string): void {
  const because = { isApp: true, errorCode, reason: new TextEncoder().encode(reason) } as const
  connection.stop({ ...because, force: true }).catch(() => undefined)
}
