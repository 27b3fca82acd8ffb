// How many jobs are with the database at once, and how many may wait for it.
//
// Invariants:
//   G1. At most `places` jobs are inside; the others come in as they asked, urgent ones before the
//       rest.
//   G2. At most JOBS_WAITING_MAX jobs wait; the next one is refused at once and nothing of it
//       happens.

import { StoreBusy } from './store-error.ts'

export const JOBS_WAITING_MAX = 10_000

export class Gate {
  readonly #places: number
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #inside = 0
  #whenEmpty: (() => void)[] = []

  constructor(places: number) {
    this.#places = places
  }

  get waiting(): number {
    return this.#urgent.length + this.#others.length
  }

  /**
   * Runs the work as soon as there is a place for it. Rejects with StoreBusy, or as the work does.
   */
  async pass<Answer>(work: () => Promise<Answer>, isUrgent: boolean): Promise<Answer> {
    if (this.#inside < this.#places) this.#inside += 1
    else await this.#wait(isUrgent ? this.#urgent : this.#others) // G1
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** Resolves once nobody is inside and nobody waits. */
  whenEmpty(): Promise<void> {
    if (this.#inside === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#whenEmpty.push(resolve))
  }

  #wait(queue: (() => void)[]): Promise<void> {
    if (this.waiting >= JOBS_WAITING_MAX) throw new StoreBusy(this.waiting) // G2
    return new Promise((resolve) => void queue.push(resolve))
  }

  /** Hands the place to whoever is next. */
  #leave(): void {
    const next = this.#urgent.shift() ?? this.#others.shift()
    if (next !== undefined) return next()
    this.#inside -= 1
    if (this.#inside > 0) return
    for (const tell of this.#whenEmpty) tell()
    this.#whenEmpty = []
  }
}
