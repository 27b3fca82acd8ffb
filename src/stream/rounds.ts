// Decides when the acceptor appends gathered submissions: once it has read the input at hand, or at
// the end of a longer round.
//
// Invariants:
//   rounds/1. A round lasts `gapMs` at most. It ends early once two thirds of the callers wait:
//     they send nothing more until their answers, so few further submissions can come.
//   rounds/2. The first submission after a quiet time does not wait for a round.

import type { Timers } from '#domain/ports'

export interface RoundPorts {
  /** Runs a task after this pass of the event loop has read the input at hand. */
  readonly soon: (task: () => void) => void
  readonly timers: Timers
  /** Returns milliseconds that never decrease. */
  readonly monotonicMs: () => number
  /** Returns the number of callers that could wait at once: connections with one request each. */
  readonly callers: () => number
}

export class Rounds {
  readonly #ports: RoundPorts
  readonly #gapMs: number
  readonly #onEnd: () => void
  #gathered = 0
  #isEnding = false
  #cancelTimer: (() => void) | undefined
  /** The earliest time at which the next round may end. */
  #notBeforeMs = -Infinity

  /**
   * `gapMs`: milliseconds between the ends of two rounds; at 0 a round ends with the input at hand.
   */
  constructor(ports: RoundPorts, gapMs: number, onEnd: () => void) {
    this.#ports = ports
    this.#gapMs = gapMs
    this.#onEnd = onEnd
  }

  /** True while a caller waits for the end of the round. */
  get isOpen(): boolean {
    return this.#gathered > 0
  }

  /** Adds a caller that waits for the end of the round. */
  gather(): void {
    this.#gathered += 1
    if (this.#isEnding) return
    const isFull = this.#gathered * 3 >= this.#ports.callers() * 2 // rounds/1
    if (this.#cancelTimer !== undefined && !isFull) return
    const restMs = isFull ? 0 : this.#notBeforeMs - this.#ports.monotonicMs()
    if (restMs > 0) this.#cancelTimer = this.#ports.timers.after(restMs, this.#end)
    else this.#endSoon() // rounds/2
  }

  #endSoon(): void {
    this.#cancelTimer?.()
    this.#isEnding = true
    this.#ports.soon(this.#end)
  }

  readonly #end = (): void => {
    this.#gathered = 0
    this.#isEnding = false
    this.#cancelTimer = undefined
    if (this.#gapMs > 0) this.#notBeforeMs = this.#ports.monotonicMs() + this.#gapMs
    this.#onEnd()
  }
}
