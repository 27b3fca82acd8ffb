// Queues the reads of all sessions of a process: a bounded number run and a bounded number wait,
// first come first served. A fleet that reconnects in one second waits here and not in the store.

export class Reads {
  readonly #atOnce: number
  readonly #waitingMax: number
  /** Jobs in the order of their calls; each is in it once. */
  readonly #waiting = new Set<() => Promise<void>>()
  #running = 0

  constructor({ atOnce, waitingMax }: { readonly atOnce: number; readonly waitingMax: number }) {
    this.#atOnce = atOnce
    this.#waitingMax = waitingMax
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs a job, which never rejects, as soon as fewer than `atOnce` run; false when too many wait.
   */
  run(job: () => Promise<void>): boolean {
    if (this.#running < this.#atOnce) void this.#work(job)
    else if (this.#waiting.size < this.#waitingMax) this.#waiting.add(job)
    else return false
    return true
  }

  /** Forgets the waiting jobs. */
  clear(): void {
    this.#waiting.clear()
  }

  async #work(first: () => Promise<void>): Promise<void> {
    this.#running += 1
    let job: (() => Promise<void>) | undefined = first
    while (job !== undefined) {
      await job()
      ;[job] = this.#waiting
      if (job !== undefined) this.#waiting.delete(job)
    }
    this.#running -= 1
  }
}
