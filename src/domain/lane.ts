// Lanes: partitions of the channels, and the entries of their log.

import type { Submission, Tick } from './submission.ts'

/** The most lanes that a gateway may have. */
export const LANES_MAX = 1_024

/**
 * A position in a lane's log. Positions of a lane grow; they need not be consecutive. 0 is before
 * the first.
 */
export type LogPosition = number

/**
 * The place up to which a lane is applied, as one number that the database compares: the last entry
 * applied whole, and the number of applied submissions of the entry after it. The latter is above
 * 0 only while a turn is split, for instance to find a defect. (W6)
 */
export type LanePlace = number

const PARTS = 1024

export const placeOf = (position: LogPosition, applied: number): LanePlace =>
  position * PARTS + applied
export const positionOf = (place: LanePlace): LogPosition => Math.floor(place / PARTS)
export const appliedIn = (place: LanePlace): number => place % PARTS

/** Submissions in one batch at most; less than the parts of a place. */
export const BATCH_SUBMISSIONS_MAX = 256
export const BATCH_BYTES_MAX = 262_144

/** Submissions of one lane that were appended together: the unit of the log. */
export interface Batch {
  readonly lane: number
  /** The number of submissions in `payload`. */
  readonly count: number
  /** A JSON array of submissions (schemas/batch.ts). */
  readonly payload: string
}

/** A batch as the log keeps it. */
export interface StoredBatch extends Batch {
  readonly position: LogPosition
}

/** An unreadable item of a batch, which becomes a dead letter. (W6) */
export interface Unreadable {
  readonly model: 'unreadable'
  readonly payload: string
  readonly error: string
}

/** An entry of a lane's log. */
export type Logged = Submission | Tick | Unreadable

/** A batch that was read back and checked again, in the order of acceptance. */
export interface LogEntry {
  readonly lane: number
  readonly position: LogPosition
  readonly submissions: readonly Logged[]
  /** The name of the process that appended it, in a log to which several processes append. */
  readonly writer?: string
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

/** The identity and bounds of a log that a database follows. */
export interface LogState {
  readonly identity: string
  readonly lanes: number
  /**
   * Returns the bounds of each lane. Other nodes append and apply meanwhile, so the database is
   * asked first: the end of a lane can only be later than its applied position. (W5)
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
