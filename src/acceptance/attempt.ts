// The credentials of one request: each takes its share of the password budget, and each refused one
// gets its log line.
//
// Invariants:
//   attempt/1. A password costs a computation only after it got a share of the budget.
//   attempt/2. Keys are random, so nobody guesses one: they are looked up first, and a good one
//              counts nowhere. Guesses of passwords never keep it out.

import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Audit, CredentialKind, Origin } from './audit.ts'
import { rateLimited } from './budget.ts'
import type { BudgetRefusal } from './budget.ts'
import { Place } from './password-budget.ts'
import type { Guess } from './password-budget.ts'

export class Attempt {
  readonly #origin: Origin
  readonly #audit: Audit
  /** Enters the budget; absent for a caller that no budget counts. */
  readonly #enter: (() => Place | BudgetRefusal) | undefined
  #place: Place | undefined
  /** True once its credential is known to be a good key. (attempt/2) */
  isByKey = false

  constructor(origin: Origin, audit: Audit, enter?: () => Place | BudgetRefusal) {
    this.#origin = origin
    this.#audit = audit
    this.#enter = enter
  }

  /** Counts a credential that is right; rate_limited when no share is left. */
  known(): Fault | undefined {
    return this.#counted((place) => place.known())
  }

  /**
   * Begins with a password that must be computed, or with a known one that must be compared again;
   * rate_limited when no share is left. (attempt/1)
   */
  begin(isKnown: boolean): Guess | Fault {
    const wrong = (): void => this.#audit.refused('channel password', this.#origin)
    const place = this.#entered()
    if (isFault(place)) return place
    if (isKnown || place === undefined) {
      const end: Guess['end'] = (outcome) => outcome === 'wrong' && wrong()
      return this.known() ?? { end }
    }
    const guess = place.guess()
    if ('limit' in guess) return rateLimited(guess)
    return {
      end: (outcome) => {
        if (outcome === 'wrong') wrong()
        guess.end(outcome)
      },
    }
  }

  /** Counts a credential that turned out to be wrong; rate_limited when no share is left. */
  refused(credential: CredentialKind): Fault | undefined {
    this.#audit.refused(credential, this.#origin)
    return this.#counted((place) => {
      const guess = place.guess()
      return 'limit' in guess ? guess : undefined
    })
  }

  /** Counts the request when it showed no credential; rate_limited when no share is left. */
  end(): Fault | undefined {
    return this.isByKey ? undefined : this.#counted((place) => place.end())
  }

  #counted(take: (place: Place) => BudgetRefusal | undefined): Fault | undefined {
    const place = this.#entered()
    if (place === undefined || isFault(place)) return place
    const refusal = take(place)
    return refusal && rateLimited(refusal)
  }

  /** The place of the request; it enters with its first credential that is no good key. */
  #entered(): Place | Fault | undefined {
    if (this.#place !== undefined || this.#enter === undefined) return this.#place
    const entered = this.#enter()
    if (!(entered instanceof Place)) return rateLimited(entered)
    this.#place = entered
    return entered
  }
}

/** Waits for the verdict about a password that was guessed, and ends the guess. */
export async function tried<Opened extends object>(
  guess: Guess,
  answer: Promise<Opened | Fault>,
): Promise<Opened | Fault> {
  let outcome: Parameters<Guess['end']>[0] = 'dropped'
  try {
    const verdict = await answer
    if (!isFault(verdict)) outcome = 'right'
    else if (verdict.code === 'channel_not_found') outcome = 'wrong'
    return verdict
  } finally {
    guess.end(outcome)
  }
}
