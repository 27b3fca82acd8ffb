// Decides when gathered submissions are appended: once the input at hand is read, or at the end of
// a longer round.
//
// Invariants:
//   rounds/1. A round lasts `gapMs` at most. It ends early once two thirds of the callers wait:
//     they send nothing more until they are answered, so few further submissions can come.
//   rounds/2. The first submission after a quiet time does not wait for a round.

import type { Timers } from '#domain/ports'

export interface RoundPorts {
  /** Runs a task once the input at hand has been read. */
  readonly soon: (task: () => void) => void
  readonly timers: Timers
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number
  /** The number of callers that could wait at once: connections with one request each. */
  readonly callers: () => number
}

export class Rounds {
  readonly #ports: RoundPorts
  readonly #gapMs: number
  readonly #end: () => void
  #gathered = 0
  #isEnding = false
  #cancel: (() => void) | undefined
  #notBeforeMs = -Infinity

  /**
   * `gapMs`: milliseconds between the ends of two rounds; at 0 a round ends with the input at hand.
   */
  constructor(ports: RoundPorts, gapMs: number, end: () => void) {
    this.#ports = ports
    this.#gapMs = gapMs
    this.#end = end
  }

  /** True while something waits for the end of the round. */
  get isOpen(): boolean {
    return this.#gathered > 0
  }

  /** Adds a caller that waits for the end of the round. */
  gather(): void {
    this.#gathered += 1
    if (this.#isEnding) return
    const isFull = this.#gathered * 3 >= this.#ports.callers() * 2 // rounds/1
    if (this.#cancel !== undefined && !isFull) return
    const restMs = isFull ? 0 : this.#notBeforeMs - this.#ports.monotonicMs()
    if (restMs > 0) this.#cancel = this.#ports.timers.after(restMs, this.#over)
    else this.#endSoon() // rounds/2
  }

  #endSoon(): void {
    this.#cancel?.()
    this.#isEnding = true
    this.#ports.soon(this.#over)
  }

  readonly #over = (): void => {
    this.#gathered = 0
    this.#isEnding = false
    this.#cancel = undefined
    if (this.#gapMs > 0) this.#notBeforeMs = this.#ports.monotonicMs() + this.#gapMs
    this.#end()
  }
}
