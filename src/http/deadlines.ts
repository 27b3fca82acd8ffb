// Deadlines of exchanges, for arriving bodies and for answers that callers read: one timer for all
// of a kind. Every deadline is the same time away, so the first exchange to be watched is the first
// to expire.
//
// Nearly every body comes with its request and is released at once. So the exchanges themselves
// form the list: watching and releasing one writes a few members and nothing else.

import type { Timers } from '#domain/ports'

/** An exchange that one list of deadlines watches at a time. Only Deadlines writes its members. */
export abstract class Expiring {
  isWatched = false
  deadlineMs = 0
  earlier: Expiring | undefined
  later: Expiring | undefined

  /** Called once, when the deadline has passed; by then the exchange is no longer watched. */
  abstract expire(): void
}

export interface DeadlineOptions {
  readonly timers: Timers
  /** Milliseconds that only grow: the first to be watched stays the first to expire. */
  readonly monotonicMs: () => number
  readonly timeoutMs: number
}

export class Deadlines {
  readonly #options: DeadlineOptions
  #first: Expiring | undefined
  #last: Expiring | undefined
  #cancelTimer: (() => void) | undefined

  constructor(options: DeadlineOptions) {
    this.#options = options
  }

  /** Watches an exchange from now on, also one that was watched before. */
  watch(exchange: Expiring): void {
    this.release(exchange)
    exchange.isWatched = true
    exchange.deadlineMs = this.#options.monotonicMs() + this.#options.timeoutMs
    exchange.earlier = this.#last
    if (this.#last === undefined) this.#first = exchange
    else this.#last.later = exchange
    this.#last = exchange
    if (this.#cancelTimer === undefined) this.#arm(this.#options.timeoutMs)
  }

  /** Stops watching an exchange, if it is watched. The timer stays set. */
  release(exchange: Expiring): void {
    if (!exchange.isWatched) return
    const { earlier, later } = exchange
    if (earlier === undefined) this.#first = later
    else earlier.later = later
    if (later === undefined) this.#last = earlier
    else later.earlier = earlier
    exchange.isWatched = false
    exchange.earlier = undefined
    exchange.later = undefined
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    while (this.#first !== undefined) this.release(this.#first)
  }

  #arm(delayMs: number): void {
    this.#cancelTimer?.() // an exchange that was watched while another expired may have set one
    this.#cancelTimer = this.#options.timers.after(delayMs, () => {
      this.#cancelTimer = undefined
      this.#expire()
    })
  }

  #expire(): void {
    const now = this.#options.monotonicMs()
    while (this.#first !== undefined) {
      const exchange = this.#first
      if (exchange.deadlineMs > now) {
        this.#arm(exchange.deadlineMs - now)
        return
      }
      this.release(exchange)
      exchange.expire()
    }
  }
}
