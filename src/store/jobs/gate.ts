// Bounds the jobs that are with the database at once, and those that wait for it.
//
// Invariants:
//   gate/1. At most `places` jobs are inside; the others come in as they asked, urgent ones before
//     the rest.
//   gate/2. At most JOBS_WAITING_MAX jobs wait, and beside them URGENT_WAITING_MAX urgent ones: no
//     crowd of others can get a turn refused. The next one is refused at once, without effect.
//   gate/3. After IN_A_ROW_MAX jobs that were not urgent the thread receives its messages, whether
//     a crowd asked for them or one that asks for the next job once it has the answer. SQLite
//     answers at once, so otherwise all of them would go before the thread learns that a turn is
//     due.

import type { Runtime } from '#domain/runtime'
import { StoreBusy } from '#src/store/store-error'

export const JOBS_WAITING_MAX = 10_000
/** Turns come one at a time; a process that takes lanes over has a job for each lane. */
export const URGENT_WAITING_MAX = 2_000
/** Jobs in a row, in which no turn can begin: most take some hundred microseconds. */
export const IN_A_ROW_MAX = 4

export class Gate {
  readonly #places: number
  readonly #soon: Runtime['soon']
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #inside = 0
  /** Jobs that were not urgent since the thread received its messages. */
  #inARow = 0
  #whenEmpty: (() => void)[] = []

  constructor(places: number, soon: Runtime['soon']) {
    this.#places = places
    this.#soon = soon
  }

  get waiting(): number {
    return this.#urgent.length + this.#others.length
  }

  /**
   * Runs the work as soon as there is a place for it. Rejects with StoreBusy, or as the work does.
   */
  async pass<Answer>(work: () => Promise<Answer>, isUrgent: boolean): Promise<Answer> {
    if (this.#inside < this.#places && (isUrgent || this.#mayGoOn)) this.#inside += 1
    else if (isUrgent) await wait(this.#urgent, URGENT_WAITING_MAX) // gate/1
    else await wait(this.#others, JOBS_WAITING_MAX)
    try {
      return await work()
    } finally {
      this.#leave(isUrgent)
    }
  }

  /** Resolves once no job is inside and none waits. */
  whenEmpty(): Promise<void> {
    if (this.#isEmpty) return Promise.resolve()
    return new Promise((resolve) => void this.#whenEmpty.push(resolve))
  }

  /** gate/3 */
  get #mayGoOn(): boolean {
    return this.#inARow < IN_A_ROW_MAX
  }

  get #isEmpty(): boolean {
    return this.#inside === 0 && this.waiting === 0
  }

  #leave(isUrgent: boolean): void {
    if (!isUrgent) {
      this.#inARow += 1
      if (this.#inARow === 1) this.#soon(() => this.#goOn())
    }
    this.#inside -= 1
    this.#handOn()
  }

  /** The thread has received its messages. */
  #goOn(): void {
    this.#inARow = 0
    this.#handOn()
  }

  /** Hands free places to the next jobs. */
  #handOn(): void {
    while (this.#inside < this.#places) {
      const next = this.#urgent.shift() ?? (this.#mayGoOn ? this.#others.shift() : undefined)
      if (next === undefined) break
      this.#inside += 1
      next()
    }
    if (!this.#isEmpty) return
    for (const tell of this.#whenEmpty) tell()
    this.#whenEmpty = []
  }
}

function wait(queue: (() => void)[], max: number): Promise<void> {
  if (queue.length >= max) throw new StoreBusy(queue.length) // gate/2
  return new Promise((resolve) => void queue.push(resolve))
}
