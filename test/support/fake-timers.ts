// Clocks that move only when they are told to, and the timers that go with them.

interface Timer {
  readonly at: number
  readonly callback: () => void
}

export class FakeTime {
  #now: number
  #setBy = 0
  readonly #timers = new Set<Timer>()

  constructor(now: number) {
    this.#now = now
  }

  readonly nowMs = (): number => this.#now + this.#setBy

  readonly monotonicMs = (): number => this.#now

  /** Sets the clock on the wall forward or back; no time passes. */
  set(byMs: number): void {
    this.#setBy += byMs
  }

  /** Time passes in which nothing runs; what has become due does so with the next step. */
  hold(byMs: number): void {
    this.#now += byMs
  }

  readonly after = (delayMs: number, callback: () => void): (() => void) => {
    const timer = { at: this.#now + delayMs, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves the clock and calls the timers that are due, earliest first. */
  advance(byMs: number): void {
    const untilMs = this.#now + byMs
    while (this.step(untilMs));
  }

  /**
   * Moves the clock to the earliest timer that is due by then and calls it. Without one it moves the
   * clock to the end and gives false.
   */
  protected step(untilMs: number): boolean {
    const due = [...this.#timers].filter(({ at }) => at <= untilMs)
    const next = due.toSorted((a, b) => a.at - b.at)[0]
    this.#now = Math.max(this.#now, next?.at ?? untilMs)
    if (next === undefined) return false
    this.#timers.delete(next)
    next.callback()
    return true
  }

  get waiting(): number {
    return this.#timers.size
  }
}
