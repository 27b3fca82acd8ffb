// The outcomes of a provider's answers, by their meaning.

import type { Outcome } from '#domain/push'

/**
 * The meaning of an answer: the token is `gone`; the device has too many pushes (`busy`); the
 * provider can take none now (`unavailable`), or none with these `credentials`; the push is
 * `refused` for good.
 */
export type Meaning = 'gone' | 'busy' | 'unavailable' | 'credentials' | 'refused'

/** The outcome of a push; `afterMs` is the least time until its next attempt. */
export function outcomeFor(meaning: Meaning, reason: string, afterMs?: number): Outcome {
  const after = afterMs === undefined ? {} : { afterMs }
  switch (meaning) {
    case 'gone':
      return { kind: 'gone', reason }
    case 'busy':
      return { kind: 'deferred', trouble: 'device', reason, ...after }
    case 'unavailable':
      return { kind: 'deferred', trouble: 'provider', reason, ...after }
    case 'credentials':
      return { kind: 'deferred', trouble: 'credentials', reason, ...after }
    case 'refused':
      return { kind: 'rejected', reason }
  }
}
