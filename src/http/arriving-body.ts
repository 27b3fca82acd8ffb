// The body of one request as a stream, for a handler that reads it while it arrives.
//
// Invariants:
//   arriving-body/1. A body that its handler does not read is not taken from the connection either.
//   arriving-body/2. It fails as soon as it is known to be too large, when it does not arrive in
//                    time, and when all bodies together hold too much. Its time stands still while
//                    its handler does not read.
//   arriving-body/3. Nobody's pause outlasts the reading: what is left then is skipped, so that the
//                    connection serves its next request.
//   arriving-body/4. Pieces of any size hold in proportion to their bytes: what its handler has not
//                    asked for is gathered in one buffer (gathered/1).

import { Readable } from 'node:stream'

import { Gathered } from '#domain/bounds/gathered'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { Expiring } from './deadlines.ts'
import type { Deadlines } from './deadlines.ts'

/** The most bytes that all bodies in the making hold together. */
export const ARRIVING_BYTES_MAX = 64 * 1024 * 1024

/** Bytes that wait for the handler of one body; with more its connection is not read on. */
const UNASKED_BYTES_MAX = 64 * 1024

/** The refusal of a body that has more bytes than that. */
export const tooLarge = (bytesMax: number): Fault =>
  fault('body_too_large', { detail: `at most ${bytesMax} bytes` })

/** Why a body ended before it was whole. */
export class BodyRefused extends Error {
  readonly fault: Fault

  constructor(refusal: Fault) {
    super(refusal.code)
    this.fault = refusal
  }
}

/** The listener's traffic, which all bodies share, and the flow control of one connection. */
export interface ArrivingPorts {
  readonly traffic: { readonly deadlines: Deadlines; bodyBytes: number }
  readonly pause: () => void
  readonly resume: () => void
  /** Called when the body did not arrive in time. */
  readonly expired: () => void
}

export class ArrivingBody extends Readable {
  readonly #bytesMax: number
  readonly #ports: ArrivingPorts
  readonly #deadline: Expiring
  /** Parts that its handler has not asked for. */
  readonly #arrived = new Gathered()
  #left: number
  #held = 0
  #isAsked = false
  #isWhole = false
  #isPaused = false

  constructor(bytesMax: number, ports: ArrivingPorts) {
    super({ highWaterMark: 1 }) // arriving-body/4
    this.#bytesMax = bytesMax
    this.#left = bytesMax
    this.#ports = ports
    this.#deadline = new BodyDeadline(() => {
      ports.expired()
      this.refuse(fault('request_timeout'))
    })
    // Its reader is told; one that has gone away need not be.
    this.on('error', () => undefined)
    ports.traffic.deadlines.watch(this.#deadline)
  }

  /** Takes a part; the bytes live until this returns. */
  arrive(part: Uint8Array, isLast: boolean): void {
    if (this.destroyed) return // arriving-body/3
    this.#left -= part.length
    if (this.#left < 0) return this.refuse(tooLarge(this.#bytesMax)) // arriving-body/2
    const { traffic } = this.#ports
    if (traffic.bodyBytes + part.length > ARRIVING_BYTES_MAX) {
      return this.refuse(fault('server_busy')) // arriving-body/2
    }
    this.#isWhole = isLast
    this.#arrived.add(part, this.#arrived.length + part.length + this.#left)
    if (isLast) traffic.deadlines.release(this.#deadline)
    if (this.#isAsked) this.#give()
    this.#holds(this.readableLength + this.#arrived.length)
    if (!isLast && this.readableLength + this.#arrived.length >= UNASKED_BYTES_MAX) this.#pause()
  }

  /** Ends the body before its time; its reader gets BodyRefused. */
  refuse(refusal: Fault): void {
    this.destroy(new BodyRefused(refusal))
  }

  override _read(): void {
    this.#isAsked = true
    this.#give()
    this.#holds(this.readableLength + this.#arrived.length)
    this.#goOn()
  }

  /** Gives the handler what there is. */
  #give(): void {
    if (this.#arrived.length > 0) {
      this.#isAsked = false
      this.push(this.#arrived.take())
    }
    if (this.#isWhole) this.push(null)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#ports.traffic.deadlines.release(this.#deadline)
    this.#arrived.clear()
    this.#holds(0)
    if (this.#isPaused) this.#ports.resume() // arriving-body/3
    callback(error)
  }

  #pause(): void {
    this.#isPaused = true
    this.#ports.traffic.deadlines.release(this.#deadline)
    this.#ports.pause() // arriving-body/1
  }

  #goOn(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#ports.traffic.deadlines.watch(this.#deadline)
    this.#ports.resume()
  }

  #holds(bytes: number): void {
    this.#ports.traffic.bodyBytes += bytes - this.#held
    this.#held = bytes
  }
}

class BodyDeadline extends Expiring {
  readonly expire: () => void

  constructor(expire: () => void) {
    super()
    this.expire = expire
  }
}
