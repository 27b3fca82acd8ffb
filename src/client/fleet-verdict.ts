// The meaning of an error for a submission: whether the gateway has it, and whether to try again.
//
// Invariants:
//   fleet-verdict/1. A submission with an unknown outcome is sent again only when a repeat has no
//     second effect.

import type { HeliographError } from './error.ts'
import type { FleetSubmission } from './fleet-submission.ts'

export type Verdict =
  /** The gateway does not have it, and would take it later. */
  | 'again'
  /** The gateway will not take it. */
  | 'refused'
  /** The gateway may have it or not. */
  | 'unknown'

/** `repeatsUpdates`: a repeated Thing update counts as one without a second effect. */
export function verdictOn(
  submission: FleetSubmission,
  error: HeliographError,
  repeatsUpdates: boolean,
): Verdict {
  if (!leavesOpen(error)) return error.retryable ? 'again' : 'refused'
  const isSafe = submission.model === 'message' || (repeatsUpdates && isReading(submission))
  return isSafe ? 'again' : 'unknown' // fleet-verdict/1
}

/** True when nobody knows whether the gateway has the submission. */
export const leavesOpen = ({ code, status }: HeliographError): boolean =>
  code === 'submission_outcome_unknown' ||
  code === 'connection_failed' ||
  (code === 'answer_invalid' && status >= 500)

/** The same values with the same time change nothing the second time. (docs/decisions.md 4) */
const isReading = ({ model, action }: FleetSubmission): boolean =>
  model === 'thing' && action === 'update'
