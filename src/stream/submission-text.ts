// Reads submissions that the database keeps outside the log, in the log's own format.

import type { Unreadable } from '#domain/lane'
import type { Submission } from '#domain/submission'
import { decodeBatch, encodeBatch } from '#src/schemas/batch'

/** Returns the submission in a text; Unreadable when this version cannot read it. */
export function readSubmission(payload: string): Submission | Unreadable {
  const [submission] = decodeBatch(encodeBatch([payload]))
  if (submission === undefined || submission.model === 'tick') {
    return { model: 'unreadable', payload, error: 'the text has no submission' }
  }
  return submission
}
