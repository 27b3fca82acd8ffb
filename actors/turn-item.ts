// The parts of a turn: submissions with their place in the log, and where it moves the lanes.

import type { LanePlace, LogPosition, Unreadable } from '#domain/lane'
import type { Unparked } from '#domain/parked'
import type { LaneMove } from '#domain/store-ports'
import type { Submission } from '#domain/submission'

/** One submission and where it stands in the log. */
export interface Item {
  readonly lane: number
  readonly position: LogPosition
  readonly index: number
  /** The place of its lane once it and everything before it is applied. */
  readonly placeAfter: LanePlace
  readonly submission: Submission | Unreadable
}

/** What a turn applies, and to where it moves the lanes. */
export interface Turn {
  readonly items: readonly Item[]
  readonly moves: readonly LaneMove[]
  readonly nowMs: number
  /** Items that are known to break a turn, with the reason: they become dead letters. (W6) */
  readonly poisoned?: ReadonlyMap<Item, string>
  /** Items that wait with their channel, with the reason. (W6) */
  readonly parked?: ReadonlyMap<Item, string>
  /** The items are the oldest that wait for this channel. */
  readonly unparks?: Omit<Unparked, 'opIds'>
  /** An attempt failed: every op_id is looked up. (turn-uses.ts) */
  readonly isCareful?: true
}
