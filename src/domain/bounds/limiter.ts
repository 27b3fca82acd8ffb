// Bounds the jobs that run at once and those that wait, which come in the order of their calls.
//
// Invariants:
//   limiter/1. At most `places` jobs run. A job that ends hands its place on, so that nobody
//              overtakes those that wait.
//   limiter/2. At most `waitingMax` jobs wait; the next one is refused at once, without effect.

interface LimiterBounds {
  readonly places: number
  readonly waitingMax: number
}

export class Limiter {
  readonly #bounds: LimiterBounds
  /** Begins of the waiting jobs, first come first served. */
  readonly #queue = new Set<() => void>()
  #running = 0

  constructor(bounds: LimiterBounds) {
    this.#bounds = bounds
  }

  /** Jobs that have not begun. */
  get waiting(): number {
    return this.#queue.size
  }

  /** Runs a job in its turn and settles as it does; undefined when too many wait. */
  run<Result>(job: () => Promise<Result>): Promise<Result> | undefined {
    if (this.#running < this.#bounds.places) {
      this.#running += 1 // limiter/1
      return this.#work(job)
    }
    if (this.#queue.size >= this.#bounds.waitingMax) return undefined // limiter/2
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#queue.add(resolve)
    return promise.then(() => this.#work(job))
  }

  /** Forgets the waiting jobs: their promises never settle. */
  clear(): void {
    this.#queue.clear()
  }

  async #work<Result>(job: () => Promise<Result>): Promise<Result> {
    try {
      return await job()
    } finally {
      const [next] = this.#queue
      if (next === undefined) this.#running -= 1
      else {
        this.#queue.delete(next)
        next()
      }
    }
  }
}
