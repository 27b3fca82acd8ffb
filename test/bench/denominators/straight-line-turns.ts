// Gathers entries of the log into turns. Large turns are cheap, so a turn waits a few milliseconds
// for 1,000 submissions.

import type { LoggedBatch, Submission } from './straight-line-fold.ts'

/** A turn starts with so many submissions, or this long after the first of them was appended. */
const TURN_MIN = 1_000
const TURN_MAX = 4_000
const TURN_WAIT_MS = 20

/** Writes a turn of so many batches; the next one is given only after it. */
export type Apply = (turn: readonly Submission[], batches: number) => void | Promise<void>

export class Turns {
  readonly #apply: Apply
  #unapplied: LoggedBatch[] = []
  #count = 0
  #isTimed = false
  #isApplying = false

  constructor(apply: Apply) {
    this.#apply = apply
  }

  add(batch: LoggedBatch): void {
    this.#unapplied.push(batch)
    this.#count += batch.count
    this.#work()
  }

  #work(): void {
    if (this.#isApplying || this.#count === 0) return
    if (this.#count >= TURN_MIN) void this.#turn()
    else if (!this.#isTimed) {
      this.#isTimed = true
      setTimeout(() => this.#rest(), TURN_WAIT_MS)
    }
  }

  #rest(): void {
    this.#isTimed = false
    if (!this.#isApplying && this.#count > 0) void this.#turn()
  }

  async #turn(): Promise<void> {
    this.#isApplying = true
    const batches = this.#take()
    // Read back unchecked: the straight line trusts its own log.
    const turn = batches.flatMap(({ payload }) => JSON.parse(payload) as Submission[])
    const writing = this.#apply(turn, batches.length)
    if (writing !== undefined) await writing
    this.#isApplying = false
    this.#work()
  }

  /** Batches of at most TURN_MAX submissions together, at least one. */
  #take(): LoggedBatch[] {
    let count = 0
    const cut = this.#unapplied.findIndex((batch, index) => {
      count += batch.count
      return index > 0 && count > TURN_MAX
    })
    const turn = this.#unapplied.splice(0, cut < 0 ? this.#unapplied.length : cut)
    this.#count -= turn.reduce((sum, batch) => sum + batch.count, 0)
    return turn
  }
}
