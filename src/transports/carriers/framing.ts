// Writes and reads frames on a stream of bytes, for carriers without frames of their own: the
// length in four bytes, big-endian, then that many bytes of JSON. (decisions.md 10)
//
// Invariants:
//   framing/1. A reader reserves memory only as the bytes of a frame arrive: it holds at most twice
//              the bytes that it got, and never more than one frame.
//   framing/2. The bytes held for one device are bounded; the carrier cuts a device beyond that.

import { isUtf8 } from 'node:buffer'

import type { CarrierName } from '#domain/carrier'
import { DEVICE_FRAME_BYTES_MAX } from '#src/schemas/frames'
import type { BrokenRule, Carrier, SessionHandle } from '#src/transports/carrier'
import { WINDOW_BYTES_MAX } from '#src/transports/signals'

/** The protocol's name in TLS and QUIC. */
export const ALPN = 'heliograph'
/** Four windows: room for entries, and for all answers that a device can cause. (framing/2) */
export const HELD_BYTES_MAX = 4 * WINDOW_BYTES_MAX

const LENGTH_BYTES = 4
const FIRST_BYTES = 512

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
  #length: number | undefined
  #held = Buffer.alloc(0)
  #filled = 0

  /** Returns each complete text to `take`; returns the broken rule, if there is one. */
  read(chunk: Buffer, take: (text: string) => void): BrokenRule | undefined {
    let rest = chunk
    while (rest.length > 0) {
      const wanted = (this.#length ?? LENGTH_BYTES) - this.#filled
      this.#keep(rest.subarray(0, wanted))
      rest = rest.subarray(wanted)
      const broken = this.#length === undefined ? this.#takeLength() : undefined
      if (broken !== undefined) return broken
      if (this.#length !== this.#filled) continue
      const frame = this.#held.subarray(0, this.#filled)
      if (!isUtf8(frame)) return 'not-text'
      const text = frame.toString()
      this.#begin(undefined)
      take(text)
    }
    return undefined
  }

  #takeLength(): BrokenRule | undefined {
    if (this.#filled < LENGTH_BYTES) return undefined
    const length = this.#held.readUInt32BE()
    if (length > DEVICE_FRAME_BYTES_MAX) return 'frame-too-big'
    this.#begin(length)
    return undefined
  }

  #begin(length: number | undefined): void {
    this.#length = length
    this.#filled = 0
    // An idle connection holds no memory.
    if (length === undefined) this.#held = NOTHING
  }

  /** Keeps bytes of an incomplete frame. (framing/1) */
  #keep(bytes: Buffer): void {
    const needed = this.#filled + bytes.length
    if (needed > this.#held.length) {
      const whole = this.#length ?? LENGTH_BYTES
      const larger = Buffer.allocUnsafeSlow(Math.min(whole, Math.max(FIRST_BYTES, 2 * needed)))
      this.#held.copy(larger, 0, 0, this.#filled)
      this.#held = larger
    }
    this.#filled += bytes.copy(this.#held, this.#filled)
  }
}

const NOTHING = Buffer.alloc(0)

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
  #handle: SessionHandle | undefined
  #isEnding = false
  #isClosed = false
  #held = 0

  constructor({ kind, address, openingMs }: Peer, stream: ByteStream) {
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
    const broken = this.#reader.read(chunk, (text) => {
      if (!this.#isEnding) this.#handle?.receive(text)
    })
    if (broken !== undefined && !this.#isEnding) this.#handle?.broken(broken)
  }

  /** Ends the session, since either side has closed the stream. */
  closed(): void {
    if (this.#isClosed) return
    this.#isEnding = true
    this.#isClosed = true
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
