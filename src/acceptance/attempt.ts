// The credentials of one request: each takes its share of the password budget, and each refused one
// gets its log line.
//
// Invariants:
//   attempt/1. A password costs a computation only after it got a share of the budget.
//   attempt/2. Keys are random, so nobody guesses one: they are looked up first and counted by the
//              outcome. Guesses of passwords never keep a right key out.

import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Audit, CredentialKind, Origin } from './audit.ts'
import { rateLimited } from './budget.ts'
import type { Place } from './password-budget.ts'

/** A password that is being computed or compared. */
export interface Trial {
  /** Called once; 'dropped' when the password was not compared after all. */
  end(outcome: 'right' | 'wrong' | 'dropped'): void
}

export class Attempt {
  readonly #origin: Origin
  readonly #audit: Audit
  /** Absent for a caller that no budget counts. */
  readonly #place: Place | undefined

  constructor(origin: Origin, audit: Audit, place?: Place) {
    this.#origin = origin
    this.#audit = audit
    this.#place = place
  }

  /** Counts a credential that is right; rate_limited when no share is left. */
  known(): Fault | undefined {
    const refusal = this.#place?.known()
    return refusal && rateLimited(refusal)
  }

  /**
   * Begins with a password that must be computed, or with a known one that must be compared again;
   * rate_limited when no share is left. (attempt/1)
   */
  begin(isKnown: boolean): Trial | Fault {
    const wrong = (): void => this.#audit.refused('channel password', this.#origin)
    if (isKnown || this.#place === undefined) {
      const end: Trial['end'] = (outcome) => outcome === 'wrong' && wrong()
      return this.known() ?? { end }
    }
    const guess = this.#place.guess()
    if ('limit' in guess) return rateLimited(guess)
    return {
      end: (outcome) => {
        if (outcome === 'wrong') wrong()
        else guess[outcome]()
      },
    }
  }

  /** Counts a credential that turned out to be wrong; rate_limited when no share is left. */
  refused(credential: CredentialKind): Fault | undefined {
    this.#audit.refused(credential, this.#origin)
    const guess = this.#place?.guess()
    return guess && 'limit' in guess ? rateLimited(guess) : undefined
  }

  /** Counts the request when it showed no credential; rate_limited when no share is left. */
  end(): Fault | undefined {
    const refusal = this.#place?.end()
    return refusal && rateLimited(refusal)
  }
}

/** Waits for the verdict about a password and ends its trial. */
export async function tried<Opened extends object>(
  trial: Trial,
  answer: Promise<Opened | Fault>,
): Promise<Opened | Fault> {
  let outcome: Parameters<Trial['end']>[0] = 'dropped'
  try {
    const verdict = await answer
    if (!isFault(verdict)) outcome = 'right'
    else if (verdict.code === 'channel_not_found') outcome = 'wrong'
    return verdict
  } finally {
    trial.end(outcome)
  }
}
