// Lanes: partitions of the channels, and the entries of their log.

import type { Submission } from './submission.ts'

/**
 * A position in a lane's log. Positions of a lane grow; they need not be consecutive. 0 is before
 * the first.
 */
export type LogPosition = number

/**
 * How far a lane is applied, as one number that the database compares: the last entry applied
 * whole, and how many submissions of the entry after it. The part inside an entry is used only
 * while a turn is split to find a defect. (W6)
 */
export type LanePlace = number

const PARTS = 1024

export const placeOf = (position: LogPosition, applied: number): LanePlace =>
  position * PARTS + applied
export const positionOf = (place: LanePlace): LogPosition => Math.floor(place / PARTS)
export const appliedIn = (place: LanePlace): number => place % PARTS

/** Submissions in one batch, at most; less than the parts of a place. */
export const BATCH_SUBMISSIONS_MAX = 256
export const BATCH_BYTES_MAX = 262_144

/** Submissions of one lane that were appended together: the unit of the log. */
export interface Batch {
  readonly lane: number
  /** How many submissions `payload` holds. */
  readonly count: number
  /** A JSON array of submissions (schemas/batch.ts). */
  readonly payload: string
}

/** A batch as the log keeps it. */
export interface StoredBatch extends Batch {
  readonly position: LogPosition
}

/** An item of a batch that cannot be read as a submission: kept as a dead letter. (W6) */
export interface Unreadable {
  readonly model: 'unreadable'
  readonly payload: string
  readonly error: string
}

/** A batch as it is read back, checked again: order is the order of acceptance. */
export interface LogEntry {
  readonly lane: number
  readonly position: LogPosition
  readonly submissions: readonly (Submission | Unreadable)[]
}

export type Appended =
  | { readonly kind: 'appended'; readonly position: LogPosition }
  /**
   * Nothing was kept. `full`: the byte bound is reached; `unavailable`: the log cannot write now.
   */
  | {
      readonly kind: 'refused'
      readonly reason: 'full' | 'unavailable'
      readonly retryAfterMs: number
    }
  /** The log did not answer in time: the batch may be kept, now or later. */
  | { readonly kind: 'unknown'; readonly retryAfterMs: number }

/** A log that a database is to follow. */
export interface LogState {
  readonly identity: string
  readonly lanes: number
  /**
   * What each lane holds now. Others append and apply meanwhile: asked after the database was,
   * which gives what is applied, an end can only be later than that. (W5)
   */
  readonly bounds: (applied: readonly AppliedTo[]) => Promise<readonly LogBounds[]>
}

/**
 * First position still kept and last position of a lane; 0 and 0 when it never had any. The entry
 * up to which a lane is applied is always kept. (W4)
 */
export interface LogBounds {
  readonly first: LogPosition
  readonly last: LogPosition
}

/** The last entry of a lane that was applied, whole or in part. */
export interface AppliedTo {
  readonly lane: number
  readonly position: LogPosition
}

/** Says why the database cannot follow this log, and what to do. (W5) */
export class LogMismatch extends Error {}

/** The right to apply a lane. A later owner of the same lane has a greater epoch. */
export interface Lease {
  readonly lane: number
  readonly epoch: number
}
