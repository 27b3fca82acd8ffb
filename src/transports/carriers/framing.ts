// Writes and reads frames on a stream of bytes, for carriers without frames of their own: the
// length in four bytes, big-endian, then that many bytes of JSON. (decisions.md 10)
//
// Invariants:
//   framing/1. A reader reserves memory only as the bytes of a frame arrive: it holds at most twice
//              the bytes that it got, and never more than one frame. What it holds of all devices
//              is bounded (arriving/1).
//   framing/2. The bytes held for one device are bounded; the carrier cuts a device beyond that.

import { isUtf8 } from 'node:buffer'

import { Gathered } from '#domain/bounds/gathered'
import type { CarrierName } from '#domain/carrier'
import type { Arriving, Share } from '#src/doors/arriving'
import { DEVICE_FRAME_BYTES_MAX } from '#src/schemas/frames'
import type { BrokenRule, Carrier, SessionHandle } from '#src/transports/carrier'
import { WINDOW_BYTES_MAX } from '#src/transports/signals'

/** The protocol's name in TLS and QUIC. */
export const ALPN = 'heliograph'
/** Four windows: room for entries, and for all answers that a device can cause. (framing/2) */
export const HELD_BYTES_MAX = 4 * WINDOW_BYTES_MAX

const LENGTH_BYTES = 4

/** The bytes of texts as frames. */
export function framesOf(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const total = lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, 0)
  const bytes = Buffer.allocUnsafe(total)
  let at = 0
  for (const [index, text] of texts.entries()) {
    at = bytes.writeUInt32BE(lengths[index] ?? 0, at)
    at += bytes.write(text, at)
  }
  return bytes
}

/** Cuts a stream of bytes into the texts of its frames. */
export class FrameReader {
  readonly #arrived = new Gathered()
  #length: number | undefined

  /** Bytes of memory for a frame that is not whole. */
  get heldBytes(): number {
    return this.#arrived.heldBytes
  }

  /** Returns each complete text to `take`; returns the broken rule, if there is one. */
  read(chunk: Buffer, take: (text: string) => void): BrokenRule | undefined {
    let rest = chunk
    while (rest.length > 0) {
      const whole = this.#length ?? LENGTH_BYTES
      const piece = rest.subarray(0, whole - this.#arrived.length)
      this.#arrived.add(piece, whole) // framing/1
      rest = rest.subarray(piece.length)
      if (this.#length === undefined && this.#arrived.length === LENGTH_BYTES) {
        this.#length = this.#arrived.take().readUInt32BE()
        if (this.#length > DEVICE_FRAME_BYTES_MAX) return 'frame-too-big'
      }
      if (this.#arrived.length !== this.#length) continue
      const frame = this.#arrived.take()
      this.#length = undefined
      if (!isUtf8(frame)) return 'not-text'
      take(frame.toString())
    }
    return undefined
  }
}

/** The stream under a framed carrier. */
export interface ByteStream {
  /** Writes bytes, and calls `sent` when they have left this process. */
  write(bytes: Buffer, sent: () => void): void
  /** Bytes that were written and not sent. */
  readonly held: number
  /** Sends the bytes that it holds, then ends, with code and reason if the stream has them. */
  end(code: number, reason: string): void
  /** Ends at once. */
  cut(): void
}

export interface Peer {
  readonly kind: CarrierName
  readonly address: string
  readonly openingMs: number
}

/** A carrier on a stream of bytes. Its owner calls `received` and `closed`. */
export class FramedCarrier implements Carrier {
  readonly kind: CarrierName
  readonly address: string
  readonly openingMs: number
  readonly authorization = ''
  readonly #stream: ByteStream
  readonly #reader = new FrameReader()
  readonly #share: Share
  #handle: SessionHandle | undefined
  #isEnding = false
  #isClosed = false
  #held = 0

  constructor({ kind, address, openingMs }: Peer, stream: ByteStream, arriving: Arriving) {
    this.#share = arriving.open(address)
    this.kind = kind
    this.address = address
    this.openingMs = openingMs
    this.#stream = stream
  }

  /** Joins the carrier with its session. */
  begin(open: (carrier: Carrier) => SessionHandle): void {
    this.#handle = open(this)
    if (this.#isClosed) this.#handle.closed()
  }

  /** Takes bytes from the device; ignores those after the end. */
  received(chunk: Buffer): void {
    if (this.#isEnding) return
    const wrong = this.#reader.read(chunk, (text) => {
      if (!this.#isEnding) this.#handle?.receive(text)
    })
    const isRefused = this.#share.holds(this.#reader.heldBytes) !== undefined // arriving/1
    const broken = wrong ?? (isRefused ? 'no-room' : undefined)
    if (broken !== undefined && !this.#isEnding) this.#handle?.broken(broken)
  }

  /** Ends the session, since either side has closed the stream. */
  closed(): void {
    if (this.#isClosed) return
    this.#isEnding = true
    this.#isClosed = true
    this.#share.holds(0)
    this.#handle?.closed()
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.#isEnding) return 'closed'
    this.#stream.write(framesOf(texts), () => this.#sent())
    this.#held = this.#stream.held
    if (this.#held <= HELD_BYTES_MAX) return this.#held
    this.#isEnding = true
    this.#stream.cut() // framing/2
    return 'closed'
  }

  close(code: number, reason: string): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#stream.end(code, reason)
  }

  cut(): void {
    if (this.#isClosed) return
    this.#isEnding = true
    this.#stream.cut()
  }

  #sent(): void {
    if (this.#isEnding || this.#held === 0) return
    this.#held = this.#stream.held
    this.#handle?.drained(this.#held)
  }
}
