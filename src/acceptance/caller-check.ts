// The check of every caller, whatever its way in: the gateway token, then the password budget.
//
// Invariants:
//   caller-check/1. Proof of the gateway token passes every guard, and no budget counts the caller.
//   caller-check/2. A wrong token counts in the password budget. A missing one is no guess and does
//                   not.
//   caller-check/3. When a handler judges the token, because another one may stand in its place,
//                   the same two rules hold: it calls provesToken and countGuess.

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { Attempt } from './attempt.ts'
import type { Audit, CredentialKind, Origin } from './audit.ts'
import { withAttempt } from './caller.ts'
import type { Admitted, Caller } from './caller.ts'
import type { PasswordBudget } from './password-budget.ts'
import type { TokenCheck } from './gateway-token.ts'

/** The checks that a way in asks for. */
export interface Guard {
  /**
   * 'required' asks for the gateway token, if the gateway has one; 'proven' refuses every caller
   * of a gateway that has none.
   */
  readonly token: 'required' | 'proven' | 'none'
  /**
   * The budget that counts callers without it: each credential but a good key, each new device,
   * each wrong token that the handler finds, or none.
   */
  readonly budget: 'passwords' | 'devices' | 'guesses' | 'none'
}

const UNAUTHENTICATED = fault('authentication_failed')
const UNCOUNTED: Admitted = Object.freeze({})

export class CallerCheck {
  readonly #verdictOf: TokenCheck
  readonly #passwords: PasswordBudget
  readonly #audit: Audit

  constructor(verdictOf: TokenCheck, passwords: PasswordBudget, audit: Audit) {
    this.#verdictOf = verdictOf
    this.#passwords = passwords
    this.#audit = audit
  }

  /**
   * Lets a caller in, with what goes on counting it, or returns the refusal: authentication_failed
   * or rate_limited.
   */
  admit(guard: Guard, origin: Origin, authorization: string, bareToken?: string): Answer<Admitted> {
    const verdict = guard.token === 'none' ? 'open' : this.#verdictOf(authorization, bareToken)
    if (verdict === 'absent') return UNAUTHENTICATED // caller-check/2
    if (verdict === 'open' && guard.token === 'proven') return UNAUTHENTICATED
    if (guard.budget === 'none' && verdict !== 'wrong') return UNCOUNTED // caller-check/1
    const isCounted = verdict !== 'valid' // caller-check/1
    if (verdict !== 'wrong' && !(isCounted && guard.budget === 'passwords')) {
      return { origin, isCounted, attempt: new Attempt(origin, this.#audit) }
    }
    const attempt = this.#attemptOf(origin)
    if (verdict === 'wrong') return attempt.refused('gateway token') ?? UNAUTHENTICATED
    return { origin, isCounted, attempt }
  }

  /** True when the header holds the gateway token; false when the gateway has none. */
  provesToken(authorization: string): boolean {
    return this.#verdictOf(authorization) === 'valid' // caller-check/3
  }

  /** Counts a token that its handler found wrong; the fault when the budget is used up. */
  countGuess({ origin, isCounted }: Caller, credential: CredentialKind): Fault | undefined {
    if (origin === undefined || isCounted !== true) return undefined
    return this.#attemptOf(origin).refused(credential)
  }

  /** The caller with one more credential of the same request, which counts as a request does. */
  again(caller: Caller): Caller {
    const { origin, isCounted } = caller
    if (origin === undefined || isCounted !== true) return caller
    return withAttempt(caller, this.#attemptOf(origin))
  }

  #attemptOf(origin: Origin): Attempt {
    return new Attempt(origin, this.#audit, () => this.#passwords.enter(origin.address))
  }
}
