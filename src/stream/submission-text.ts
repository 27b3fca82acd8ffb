// A submission that is kept outside the log, in the log's own form.

import type { Unreadable } from '#domain/lane'
import type { Submission } from '#domain/submission'
import { decodeBatch, encodeBatch } from '#src/schemas/batch'

/** The submission of a text that was made of one; Unreadable when it is none any more. */
export function readSubmission(payload: string): Submission | Unreadable {
  const [submission] = decodeBatch(encodeBatch([payload]))
  return submission ?? { model: 'unreadable', payload, error: 'there is nothing' }
}
