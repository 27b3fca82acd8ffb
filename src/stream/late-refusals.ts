// Refuses the submissions of channels that are at their bound, a little later than at once.
//
// Invariants:
//   late-refusals/1. Refusals leave together, PAUSE_MS after the first of them was asked for: a
//     caller that sends the next submission at once is refused a few times a second, and leaves the
//     thread to other channels. (W8)
//   late-refusals/2. At most WAITING_MAX wait; the next one leaves at once. (W7)

import type { Fault } from '#domain/fault'
import type { Timers } from '#domain/ports'

const PAUSE_MS = 250
export const WAITING_MAX = 4_096

export class LateRefusals {
  readonly #refusal: Fault
  readonly #timers: Timers
  #waiting: (() => void)[] = []

  constructor(refusal: Fault, timers: Timers) {
    this.#refusal = refusal
    this.#timers = timers
  }

  /** Resolves to the refusal when it may leave. */
  refuse(): Promise<Fault> {
    if (this.#waiting.length >= WAITING_MAX) return Promise.resolve(this.#refusal)
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) this.#timers.after(PAUSE_MS, () => this.#leave())
      this.#waiting.push(() => resolve(this.#refusal))
    })
  }

  #leave(): void {
    for (const leave of this.#waiting.splice(0)) leave()
  }
}
