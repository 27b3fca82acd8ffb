// Adapts the number of pushes under way at a provider: more while it answers, half as many when it
// does not.
//
// Invariants:
//   concurrency/1. At most `limit` are under way; the others wait in the order in which they asked.
//   concurrency/2. A storm of refusals halves the limit once: pushes that were under way at that
//                  time say nothing new.

const GENTLE = 0.8
const HARSH = 0.5

export interface ConcurrencyOptions {
  readonly first: number
  readonly most: number
}

/**
 * The end of a push, for the limit. `refused`: the provider had too many; `failed`: it was away.
 */
export type Feedback = 'answered' | 'refused' | 'failed'

export class Concurrency {
  readonly #most: number
  #limit: number
  #underWay = 0
  /** Pushes begun so far, and their number when the limit last fell. */
  #begun = 0
  #begunAtFall = 0
  /** A second limit: the pushes that a circuit lets through. */
  #passing = Number.POSITIVE_INFINITY
  readonly #waiting: ((isOpen: boolean) => void)[] = []
  #isClosed = false
  readonly #whenIdle: (() => void)[] = []

  constructor({ first, most }: ConcurrencyOptions) {
    this.#limit = first
    this.#most = most
  }

  get limit(): number {
    return Math.floor(Math.min(this.#limit, this.#passing))
  }

  get underWay(): number {
    return this.#underWay
  }

  /** Resolves with a place, on which `leave` must follow; undefined after `close`. */
  enter(): Promise<Place | undefined> {
    return new Promise((resolve) => {
      this.#waiting.push((isOpen) => resolve(isOpen ? this.#begin() : undefined))
      this.#admit()
    })
  }

  leave(place: Place, feedback: Feedback): void {
    this.#underWay -= 1
    if (this.#underWay === 0) for (const tell of this.#whenIdle.splice(0)) tell()
    if (feedback === 'answered') {
      this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit)
    } else if (place.number > this.#begunAtFall) {
      // concurrency/2
      this.#limit = Math.max(1, this.#limit * (feedback === 'refused' ? GENTLE : HARSH))
      this.#begunAtFall = this.#begun
    }
    this.#admit()
  }

  /** Lets at most `atOnce` through, whatever the limit is. */
  pass(atOnce: number): void {
    this.#passing = atOnce
    this.#admit()
  }

  /** Resolves once no push is under way. */
  idle(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#whenIdle.push(resolve))
  }

  /** Refuses everybody from now on. */
  close(): void {
    this.#isClosed = true
    this.#admit()
  }

  #admit(): void {
    while (this.#waiting.length > 0 && (this.#isClosed || this.#underWay < this.limit)) {
      this.#waiting.shift()?.(!this.#isClosed) // concurrency/1
    }
  }

  #begin(): Place {
    this.#underWay += 1
    this.#begun += 1
    return { number: this.#begun }
  }
}

/** A place among those under way. */
export interface Place {
  readonly number: number
}
