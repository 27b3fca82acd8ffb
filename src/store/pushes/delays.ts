// Jobs that are put off, by the time at which they are due again.

import type { Numbered } from '#src/store/dialect'
import { changeById } from '#src/store/statements/bulk'
import type { Executor } from '#src/store/jobs/executor'

/** Milliseconds until a job that waits for another worker's job is tried again, at least. */
export const PUT_OFF_MS = 100

export class Delays {
  readonly #ids = new Map<number, Numbered[]>()

  add(id: number, untilMs: number): void {
    const ids = this.#ids.get(untilMs)
    if (ids === undefined) this.#ids.set(untilMs, [{ id }])
    else ids.push({ id })
  }

  /** Writes the times; the jobs are nobody's until then. */
  async putOff(executor: Executor): Promise<void> {
    for (const [untilMs, ids] of this.#ids) {
      const change = `UPDATE push_jobs SET due_at = ?, claim = ''`
      await changeById(executor, ids, change, [untilMs])
    }
  }
}
