// The parts of a turn: its submissions with their places in the log, and the moves of its lanes.

import type { ChannelId } from '#domain/identity'
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
  /** The process that appended it, where several do. (LogEntry) */
  readonly writer?: string
}

/** True for a submission that a channel decides; false for a tick and for what cannot be read. */
export const isOfChannel = (logged: Logged): logged is Submission =>
  logged.model !== 'unreadable' && logged.model !== 'tick'

/** True for a submission whose op_id may have been used already. (turn-uses/3) */
export const mayBeUsed = (submission: Submission): boolean =>
  submission.mayRepeat === true || (submission.model === 'message' && submission.claimed)

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
  /** Channels whose rows the database refuses: what is due in them waits. (W6) */
  readonly parkedChannels?: { has(channelId: ChannelId): boolean }
  /** Present: updates of Things that are sent at once leave no record. (turn-records/3) */
  readonly leavesUpdates?: true
  /** Rows that its tick works off at most, after turns with more that failed. (W6) */
  readonly dueMax?: number
  /** True when the first row that is due to its tick is put off in place of decided. (W6) */
  readonly putsOff?: true
  /** Present after a failed attempt: every op_id is looked up. (turn-uses.ts) */
  readonly isCareful?: true
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

export const isTick = ({ submission }: Item): boolean => submission.model === 'tick'
