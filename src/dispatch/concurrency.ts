// Limits the pushes in flight to a provider: the limit grows while the provider answers, and
// shrinks when it does not.
//
// Invariants:
//   concurrency/1. At most `limit` pushes are in flight; the others wait in the order of their
//                  calls.
//   concurrency/2. A burst of failures shrinks the limit once: pushes that were in flight when it
//                  shrank do not shrink it again.

/** The factor by which a failure shrinks the limit. */
const FAILED_FACTOR = 0.5

export interface ConcurrencyOptions {
  readonly initial: number
  readonly max: number
}

/**
 * The result of a push, for the limit. `failed`: the provider did not answer, or had too many;
 * `none`: it was not asked, or its answer concerns the device alone.
 */
export type Feedback = 'answered' | 'failed' | 'none'

export class Concurrency {
  readonly #max: number
  #limit: number
  #inFlight = 0
  /** Pushes begun so far, and their number when the limit last shrank. */
  #begun = 0
  #begunAtShrink = 0
  /** A second limit, which the circuit sets. */
  #allowed = Number.POSITIVE_INFINITY
  readonly #waiting: ((isOpen: boolean) => void)[] = []
  #isClosed = false
  readonly #whenIdle: (() => void)[] = []

  constructor({ initial, max }: ConcurrencyOptions) {
    this.#limit = initial
    this.#max = max
  }

  get limit(): number {
    return Math.floor(Math.min(this.#limit, this.#allowed))
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Resolves with a slot, which the caller must release; undefined after `close`. */
  acquire(): Promise<Slot | undefined> {
    return new Promise((resolve) => {
      this.#waiting.push((isOpen) => resolve(isOpen ? this.#begin() : undefined))
      this.#admit()
    })
  }

  release(slot: Slot, feedback: Feedback): void {
    this.#inFlight -= 1
    if (this.#inFlight === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
    if (feedback === 'answered') {
      this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit)
    } else if (feedback === 'failed' && slot.number > this.#begunAtShrink) {
      this.#limit = Math.max(1, this.#limit * FAILED_FACTOR) // concurrency/2
      this.#begunAtShrink = this.#begun
    }
    this.#admit()
  }

  /** Allows at most `atOnce` pushes in flight, whatever the limit is. */
  allow(atOnce: number): void {
    this.#allowed = atOnce
    this.#admit()
  }

  /** Resolves once no push is in flight. */
  idle(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#whenIdle.push(resolve))
  }

  /** Refuses waiting callers and all later ones. */
  close(): void {
    this.#isClosed = true
    this.#admit()
  }

  #admit(): void {
    while (this.#waiting.length > 0 && (this.#isClosed || this.#inFlight < this.limit)) {
      this.#waiting.shift()?.(!this.#isClosed) // concurrency/1
    }
  }

  #begin(): Slot {
    this.#inFlight += 1
    this.#begun += 1
    return { number: this.#begun }
  }
}

/** The right to one push in flight. */
export interface Slot {
  /** The number of pushes begun so far, this one included. */
  readonly number: number
}
