// Deadlines of bodies that are still arriving: one timer for all of them, because every deadline is
// the same time away and so the first to be watched is the first to expire.

import type { NowMs } from '#domain/ports'

/** Calls back once after a delay. Gives the way to cancel it. */
export interface Timers {
  after(delayMs: number, callback: () => void): () => void
}

export interface Expiring {
  expire(): void
}

export interface DeadlineOptions {
  readonly timers: Timers
  readonly nowMs: NowMs
  readonly timeoutMs: number
}

export class BodyDeadlines {
  readonly #options: DeadlineOptions
  readonly #watched = new Map<Expiring, number>()
  #cancelTimer: (() => void) | undefined

  constructor(options: DeadlineOptions) {
    this.#options = options
  }

  watch(body: Expiring): void {
    this.#watched.set(body, this.#options.nowMs() + this.#options.timeoutMs)
    if (this.#cancelTimer === undefined) this.#arm(this.#options.timeoutMs)
  }

  release(body: Expiring): void {
    this.#watched.delete(body)
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#watched.clear()
  }

  #arm(delayMs: number): void {
    this.#cancelTimer = this.#options.timers.after(delayMs, () => {
      this.#cancelTimer = undefined
      this.#expire()
    })
  }

  #expire(): void {
    const now = this.#options.nowMs()
    for (const [body, deadline] of this.#watched) {
      if (deadline > now) {
        this.#arm(deadline - now)
        return
      }
      this.#watched.delete(body)
      body.expire()
    }
  }
}
