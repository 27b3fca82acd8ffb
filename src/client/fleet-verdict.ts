// Decides after an error whether the gateway has the submission, and whether to try again.
//
// Invariants:
//   fleet-verdict/1. The sender repeats a submission with an unknown outcome only when a repeat has
//     no second effect.

import type { HeliographError } from './error.ts'
import type { FleetSubmission } from './fleet-submission.ts'

export type Verdict =
  /** The gateway does not have it, and may accept it later. */
  | 'again'
  /** The gateway does not accept it. */
  | 'refused'
  /** The gateway may have it or not. */
  | 'unknown'

/** With `repeatsUpdates` a repeated Thing update counts as one without a second effect. */
export function verdictOn(
  submission: FleetSubmission,
  error: HeliographError,
  repeatsUpdates: boolean,
): Verdict {
  if (!leavesOpen(error)) return error.retryable ? 'again' : 'refused'
  const isSafe = submission.model === 'message' || (repeatsUpdates && isReading(submission))
  return isSafe ? 'again' : 'unknown' // fleet-verdict/1
}

/** True when the gateway may or may not have the submission. */
export const leavesOpen = ({ code, status }: HeliographError): boolean =>
  code === 'submission_outcome_unknown' ||
  code === 'connection_failed' ||
  (code === 'answer_invalid' && status >= 500)

/** The same values with the same time change nothing the second time. (docs/decisions.md 4) */
const isReading = ({ model, action }: FleetSubmission): boolean =>
  model === 'thing' && action === 'update'
