// Submissions that were set aside, as their operator sees them. (W6)

import type { Page } from '#domain/store-ports'

/** A submission that was set aside. Ids grow in the order of setting aside. */
export interface KeptDeadLetter {
  readonly id: number
  readonly lane: number
  /** The submission as text, or what stood in its place in the log. */
  readonly payload: string
  readonly error: string
  /** Unix milliseconds at which it was accepted, or found when it cannot be read. */
  readonly at: number
}

export interface DeadLetterStore {
  /** Oldest first, behind an id. Pages end at PAGE_BYTES_MAX. */
  list(query: { readonly after: number; readonly limit: number }): Promise<Page<KeptDeadLetter>>
  find(id: number): Promise<KeptDeadLetter | undefined>
  remove(id: number): Promise<void>
}
