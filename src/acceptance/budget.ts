// A budget of requests in a minute, for each address and for all together.
//
// Invariants:
//   budget/1. A window is a minute from its first request. Within it an address gets at most
//             `perAddress` and all addresses together at most `total`.
//   budget/2. A refused request costs nothing, so one address cannot use up the total for the
//       others.
//   budget/3. Only counted requests leave an address behind: the map holds at most `total`
//             addresses.
//   budget/4. A host has one count for all addresses that it can choose from: an IPv6 host its /64.

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { hostOf } from '#domain/host'
import type { NowMs } from '#domain/ports'

export interface BudgetLimits {
  readonly perAddress: number
  readonly total: number
}

/** The limit that was reached, and the time until the window ends. */
export interface BudgetRefusal {
  readonly limit: number
  readonly resetMs: number
}

/** The fault of a request beyond a budget. */
export const rateLimited = ({ resetMs, limit }: BudgetRefusal): Fault =>
  fault('rate_limited', { retryAfterMs: resetMs, limit })

export interface Budget {
  /** Counts one request of an address; returns the refusal when it is beyond the budget. */
  take(address: string): BudgetRefusal | undefined
}

export function createBudget(limits: BudgetLimits, nowMs: NowMs): Budget {
  const counts = new Map<string, number>()
  const minutes = new Minutes(nowMs)
  let window = 0
  let total = 0
  return {
    take(address) {
      const host = hostOf(address) // budget/4
      if (window !== minutes.current()) {
        window = minutes.current() // budget/1
        total = 0
        counts.clear()
      }
      const count = counts.get(host) ?? 0
      const { resetMs } = minutes
      if (count >= limits.perAddress) return { limit: limits.perAddress, resetMs } // budget/2
      if (total >= limits.total) return { limit: limits.total, resetMs } // budget/3
      counts.set(host, count + 1)
      total += 1
      return undefined
    },
  }
}

const WINDOW_MS = 60_000

export class Minutes {
  readonly #nowMs: NowMs
  #endsAt = Number.NEGATIVE_INFINITY
  #number = 0

  constructor(nowMs: NowMs) {
    this.#nowMs = nowMs
  }

  /** The number of the window; the first call after a window's end begins the next one. */
  current(): number {
    const now = this.#nowMs()
    // A clock that was set back must not keep an old window open for longer than a minute.
    if (now >= this.#endsAt || now < this.#endsAt - WINDOW_MS) {
      this.#endsAt = now + WINDOW_MS
      this.#number += 1
    }
    return this.#number
  }

  /** Milliseconds until the window ends. */
  get resetMs(): number {
    return this.#endsAt - this.#nowMs()
  }
}
