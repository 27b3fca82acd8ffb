// Numbers the updates of Things. A block has the number of its first update.
//
// Invariants:
//   update-numbers/1. No two updates get the same number, on whatever nodes.
//   update-numbers/2. The numbers of a channel's updates grow with their seqs: the owner of a lane
//     takes new numbers once it has the lane, and nobody takes any later for what he committed
//     before.

import type { Database } from '#src/store/jobs/database'
import { setFact } from './lanes.ts'

export const UPDATE_NUMBER = 'update_number'
/** Numbers that a process takes at once: as many as a span has. */
const RANGE = 32_768

export class UpdateNumbers {
  readonly #database: Database
  #next = 0
  #end = 0
  #renewals = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the first of so many consecutive numbers. */
  async take(count: number): Promise<number> {
    while (this.#next + count > this.#end) {
      const wanted = RANGE * Math.ceil(count / RANGE)
      const renewals = this.#renewals
      const first = await this.#reserve(wanted)
      if (renewals !== this.#renewals) continue // update-numbers/2
      this.#next = first
      this.#end = first + wanted
    }
    this.#next += count
    return this.#next - count
  }

  /** Called for each lane that this process has taken. (update-numbers/2) */
  renew(): void {
    this.#renewals += 1
    this.#end = 0
  }

  /** update-numbers/1. Run again after a commit whose answer was lost, it reserves once more. */
  #reserve(count: number): Promise<number> {
    return this.#database.repeatable(
      async (executor) => {
        const row = await executor.first<{ value: string }>(
          `SELECT value FROM gateway_meta WHERE name = ?${executor.dialect.forUpdate}`,
          [UPDATE_NUMBER],
        )
        const first = Number(row?.value ?? 1)
        await setFact(executor, UPDATE_NUMBER, String(first + count))
        return first
      },
      { isIdempotent: true, isUrgent: true },
    )
  }
}
