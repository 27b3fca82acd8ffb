// The parts of a turn: its submissions with their places in the log, and the moves of its lanes.

import type { LanePlace, Logged, LogPosition } from '#domain/lane'
import type { Unparked } from '#domain/parked'
import type { LaneMove } from '#domain/store-ports'
import type { Submission } from '#domain/submission'

/** One submission and its position in the log. */
export interface Item {
  readonly lane: number
  readonly position: LogPosition
  readonly index: number
  /** The lane's place after this item. */
  readonly placeAfter: LanePlace
  readonly submission: Logged
}

/** True for a submission that a channel decides; false for a tick and for what cannot be read. */
export const isOfChannel = (logged: Logged): logged is Submission =>
  logged.model !== 'unreadable' && logged.model !== 'tick'

/** The items of a turn, and the moves of its lanes. */
export interface Turn {
  readonly items: readonly Item[]
  readonly moves: readonly LaneMove[]
  readonly nowMs: number
  /** Items known to break a turn, each with the reason: they become dead letters. (W6) */
  readonly poisoned?: ReadonlyMap<Item, string>
  /** Items that this turn parks with their channels, each with the reason. (W6) */
  readonly parked?: ReadonlyMap<Item, string>
  /** Present when the items are the oldest that wait for this parked channel. */
  readonly unparks?: Omit<Unparked, 'opIds'>
  /** Present after a failed attempt: every op_id is looked up. (turn-uses.ts) */
  readonly isCareful?: true
}
