// The parts of a turn: its submissions with their places in the log, the lanes that they move, and
// the ways in which a turn differs from a plain one.

import type { ChannelId } from '#domain/identity'
import type { LanePlace, Logged, LogPosition } from '#domain/lane'
import type { Submission } from '#domain/submission'

/** One submission and its position in the log. */
export interface Item {
  readonly lane: number
  readonly position: LogPosition
  readonly index: number
  /** The lane's place after this item. */
  readonly placeAfter: LanePlace
  readonly submission: Logged
  /** The process that appended it, where several do. (LogEntry) */
  readonly writer?: string
}

/** True for a submission that a channel decides; false for a tick and for what cannot be read. */
export const isOfChannel = (logged: Logged): logged is Submission =>
  logged.model !== 'unreadable' && logged.model !== 'tick'

export const isTick = ({ submission }: Item): boolean => submission.model === 'tick'

/** Where a lane stands behind the turns that are decided, and under which epoch. */
export interface DecidedLane {
  readonly epoch: number
  readonly decidedTo: LanePlace
}

/** The items of a turn in the order of the log, and what it does otherwise than a plain one. */
export interface Turn {
  readonly items: readonly Item[]
  /** The lanes of this process, as decided turns leave them. */
  readonly lanes: ReadonlyMap<number, DecidedLane>
  readonly nowMs: number
  /** Items that become dead letters in place of decided, each with the reason. (W6) */
  readonly setAside?: ReadonlyMap<Item, string>
  /** Present after a failed attempt: every op_id is looked up. (turn-records/4) */
  readonly isCareful?: true
  /** Present: updates of Things that are sent at once leave no record. (turn-records/3) */
  readonly leavesUpdates?: true
  /** What its tick does, after turns with it that failed. (W6) */
  readonly tick?: TickLimits
  /** Channels whose rows the database refuses: what is due in them waits. (W6) */
  readonly refused?: { resting(nowMs: number): readonly ChannelId[] }
}

export interface TickLimits {
  /** Rows that it works off at most; absent for DUE_MAX. */
  readonly dueMax?: number
  /** True when the first row that is due is put off in place of decided. */
  readonly putsOff?: true
}

/**
 * Leaves out what may not share a turn with what stands before it: a tick asks the store what is
 * due, so each stands first in its lane's part of a turn, and one turn has one. (R7)
 */
export function upToTick(items: readonly Item[]): readonly Item[] {
  if (!items.some(isTick)) return items
  const begun = new Set<number>()
  const ended = new Set<number>()
  let hasTick = false
  return items.filter((item) => {
    const { lane } = item
    if (ended.has(lane)) return false
    if (isTick(item)) {
      if (hasTick || begun.has(lane)) {
        ended.add(lane)
        return false
      }
      hasTick = true
    }
    begun.add(lane)
    return true
  })
}
