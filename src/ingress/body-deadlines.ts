// Deadlines of bodies that are still arriving: one timer for all of them, because every deadline is
// the same time away and so the first to be watched is the first to expire.
//
// Nearly every body comes with its request and is released at once: so the list runs through the
// bodies themselves, and to watch one and to release it writes a few members and nothing else.

import type { Timers } from '#domain/ports'

/** Something whose deadline can be watched. All but `expire` is written by BodyDeadlines alone. */
export abstract class Expiring {
  isWatched = false
  deadlineMs = 0
  earlier: Expiring | undefined
  later: Expiring | undefined

  /** Told once, when the deadline has passed; by then it is not watched any more. */
  abstract expire(): void
}

export interface DeadlineOptions {
  readonly timers: Timers
  /** Milliseconds that only ever grow: the first to be watched stays the first to expire. */
  readonly monotonicMs: () => number
  readonly timeoutMs: number
}

export class BodyDeadlines {
  readonly #options: DeadlineOptions
  #first: Expiring | undefined
  #last: Expiring | undefined
  #cancelTimer: (() => void) | undefined

  constructor(options: DeadlineOptions) {
    this.#options = options
  }

  /** Watches a body from now on, also one that was watched before. */
  watch(body: Expiring): void {
    this.release(body)
    body.isWatched = true
    body.deadlineMs = this.#options.monotonicMs() + this.#options.timeoutMs
    body.earlier = this.#last
    if (this.#last === undefined) this.#first = body
    else this.#last.later = body
    this.#last = body
    if (this.#cancelTimer === undefined) this.#arm(this.#options.timeoutMs)
  }

  /** Forgets a body; one that is not watched stays as it is. The timer stands: others will come. */
  release(body: Expiring): void {
    if (!body.isWatched) return
    const { earlier, later } = body
    if (earlier === undefined) this.#first = later
    else earlier.later = later
    if (later === undefined) this.#last = earlier
    else later.earlier = earlier
    body.isWatched = false
    body.earlier = undefined
    body.later = undefined
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    while (this.#first !== undefined) this.release(this.#first)
  }

  #arm(delayMs: number): void {
    this.#cancelTimer?.() // a body that was watched while another expired may have set one
    this.#cancelTimer = this.#options.timers.after(delayMs, () => {
      this.#cancelTimer = undefined
      this.#expire()
    })
  }

  #expire(): void {
    const now = this.#options.monotonicMs()
    while (this.#first !== undefined) {
      const body = this.#first
      if (body.deadlineMs > now) {
        this.#arm(body.deadlineMs - now)
        return
      }
      this.release(body)
      body.expire()
    }
  }
}
