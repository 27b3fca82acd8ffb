// A sender of hand-made first packets of QUIC, and a count of the connections that the library made.

import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'

import { native } from '@matrixai/quic'

import { VERSION_1, readLongHeader, sealed } from '#src/transports/carriers/quic/initial-packet'
import { realRuntime } from './real-runtime.ts'
import { until } from './until.ts'

const { entropy } = realRuntime
const RETRY = 0xf0

const made = new Map<number, number>()
const { quiche } = native
const { Connection } = quiche
quiche.Connection = {
  connect: (...rest) => Connection.connect(...rest),
  accept: (...all) => {
    const [, , { port }] = all
    made.set(port, (made.get(port) ?? 0) + 1)
    return Connection.accept(...all)
  },
}

/** Connections that the library has made for a listener of this process. */
export const madeAt = (port: number): number => made.get(port) ?? 0

/** The gateway's answer to a first packet: the connection ID to use from then on, and a token. */
export interface Ticket {
  readonly id: Buffer
  readonly token: Buffer
}

export class Stranger {
  readonly #retries: Buffer[] = []
  readonly #socket: Socket
  readonly #port: number
  readonly #source = entropy(8)

  /** Begins to send from an address of this machine. It is gone with the test. */
  static async at(
    t: { readonly teardown: (close: () => void) => void },
    port: number,
    address = '127.0.0.1',
  ): Promise<Stranger> {
    const socket = createSocket('udp4')
    t.teardown(() => socket.close())
    socket.bind(0, address)
    await once(socket, 'listening')
    return new Stranger(socket, port)
  }

  private constructor(socket: Socket, port: number) {
    this.#socket = socket
    this.#port = port
    socket.on('message', (datagram) => {
      if (((datagram[0] ?? 0) & 0xf0) === RETRY) this.#retries.push(datagram)
    })
  }

  /** Retries that came. */
  get retries(): number {
    return this.#retries.length
  }

  /** Sends a first packet without a token and reads the Retry. */
  async ticket(): Promise<Ticket> {
    const before = this.#retries.length
    this.send(this.packet({ id: entropy(16), token: Buffer.alloc(0) }))
    await until('a Retry arrives', () => this.#retries.length > before)
    const retry = this.#retries.at(-1) ?? Buffer.alloc(0)
    const header = readLongHeader(retry)
    if (header === undefined) throw new Error('no Retry')
    return { id: header.source, token: retry.subarray(header.numberAt, -16) }
  }

  /** A first packet that opens under the keys of its connection ID. `frames` says what is in it. */
  packet({ id, token }: Ticket, frames = Buffer.from([1])): Buffer {
    const padded = Buffer.concat([frames, Buffer.alloc(1_200)])
    const names = { destination: id, source: this.#source, token }
    return sealed('client', id, { ...names, frames: padded })
  }

  send(datagram: Buffer): void {
    this.#socket.send(datagram, this.#port, '127.0.0.1')
  }
}

/** The same packet with an end that does not open. */
export function broken(packet: Buffer): Buffer {
  const copy = Buffer.from(packet)
  entropy(64).copy(copy, copy.length - 64)
  return copy
}

/** Another kind of packet, or another version. */
export function altered(packet: Buffer, first: number, version = VERSION_1): Buffer {
  const copy = Buffer.from(packet)
  copy.writeUInt8(first)
  copy.writeUInt32BE(version, 1)
  return copy
}
