// Maps answers of push services to outcomes. (RFC 8030)
//
// Invariants:
//   webpush-answers/1. No answer and no silence of a push service concerns the provider: anybody
//     may name a service, and one that fails would hold up the devices of all others.

import type { Outcome } from '#domain/push'
import { outcomeFor } from '#src/providers/meaning'
import type { Meaning } from '#src/providers/meaning'
import { afterMsFrom } from '#src/providers/retry-after'

/** The part of an answer that decides. */
export interface ServiceAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
}

/** The status of a push that is larger than the service takes. */
export const TOO_LARGE = 413

/** Returns the outcome of an answer. */
export function outcomeOf({ status, retryAfter }: ServiceAnswer, nowMs: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  return outcomeFor(meaningOf(status), `http-${status}`, afterMsFrom(retryAfter, nowMs))
}

/** The subscription belongs to another key pair after 401 and 403, and no push will reach it. */
function meaningOf(status: number): Meaning {
  if (status === 404 || status === 410) return 'gone'
  return status === 429 || status >= 500 ? 'busy' : 'refused' // webpush-answers/1
}

/** Returns the outcome of a push without an answer: it is tried again, and the device stays. */
export const unanswered = (reason: string, afterMs?: number): Outcome =>
  outcomeFor('busy', reason, afterMs) // webpush-answers/1
