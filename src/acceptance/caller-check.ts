// The check of every caller, whatever its way in: the gateway token, then the password budget.
//
// Invariants:
//   caller-check/1. Proof of the gateway token passes every guard, and no budget counts the caller.
//   caller-check/2. A wrong token counts in the password budget. A missing one is no guess and does
//                   not.
//   caller-check/3. When a handler judges the token, because another one may stand in its place,
//                   the same two rules hold: it calls provesToken and countGuess.

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Budget } from './budget.ts'
import type { Caller } from './caller.ts'
import type { TokenCheck } from './gateway-token.ts'

/** The checks that a way in asks for. */
export interface Guard {
  /** 'required' asks for the gateway token, if the gateway has one. */
  readonly token: 'required' | 'none'
  /**
   * The budget that counts callers without it: each request, each new device, each wrong guess
   * that the handler finds, or none.
   */
  readonly budget: 'passwords' | 'devices' | 'guesses' | 'none'
}

/** The origin of a request. Asked for only when a budget counts the request. */
export interface Peer {
  /** The address of the caller, also behind a trusted proxy. */
  readonly address: string
}

const UNAUTHENTICATED = fault('authentication_failed')

export class CallerCheck {
  readonly #verdictOf: TokenCheck
  readonly #passwords: Budget

  constructor(verdictOf: TokenCheck, passwords: Budget) {
    this.#verdictOf = verdictOf
    this.#passwords = passwords
  }

  /**
   * Lets a caller in or gives the refusal: authentication_failed or rate_limited. Gives the address
   * by which budgets go on counting the caller; undefined when none does.
   */
  admit(
    guard: Guard,
    peer: Peer,
    authorization: string,
    bareToken?: string,
  ): Answer<string | undefined> {
    const verdict = guard.token === 'none' ? 'open' : this.#verdictOf(authorization, bareToken)
    if (verdict === 'valid') return undefined // caller-check/1
    if (verdict === 'absent') return UNAUTHENTICATED // caller-check/2
    if (verdict === 'open' && guard.budget === 'none') return undefined
    const { address } = peer
    const isCountedLater = guard.budget === 'devices' || guard.budget === 'guesses'
    if (verdict === 'open' && isCountedLater) return address
    const refusal = take(this.#passwords, address)
    if (isFault(refusal)) return refusal
    return verdict === 'wrong' ? UNAUTHENTICATED : address
  }

  /** True when the header holds the gateway token; false when the gateway has none. */
  provesToken(authorization: string): boolean {
    return this.#verdictOf(authorization) === 'valid' // caller-check/3
  }

  /** Counts one more password or token of a request; the fault when the budget is used up. */
  countGuess({ address }: Caller): Fault | undefined {
    return address === undefined ? undefined : take(this.#passwords, address)
  }
}

/** Takes one from a budget; rate_limited when nothing is left. */
export function take(budget: Budget, address: string): Fault | undefined {
  const refusal = budget.take(address)
  if (refusal === undefined) return undefined
  return fault('rate_limited', { retryAfterMs: refusal.resetMs, limit: refusal.limit })
}
