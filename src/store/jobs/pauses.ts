// Lets the thread receive its messages while a read works on what it has got: what comes behind its
// jobs, or between them, holds turns up as a job does. (W7)

import { pause } from '#domain/runtime'
import type { Runtime } from '#domain/runtime'

/** Steps between two pauses: some milliseconds. */
const STEPS_MAX = 8_192

export class Pauses {
  readonly #runtime: Pick<Runtime, 'soon'>
  #steps = 0

  constructor(runtime: Pick<Runtime, 'soon'>) {
    this.#runtime = runtime
  }

  /**
   * Counts steps that were taken. A step is half a microsecond of work, as a value takes that is
   * added, or some twenty bytes that are unpacked.
   */
  async after(steps: number): Promise<void> {
    this.#steps += steps
    if (this.#steps < STEPS_MAX) return
    this.#steps = 0
    await pause(this.#runtime)
  }
}
