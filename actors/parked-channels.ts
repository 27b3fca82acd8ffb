// The parked channels of this process's lanes. The database refuses their rows again and again, so
// their submissions wait in a table of their own and the lanes go on. (W6)
//
// Invariants:
//   parked/1. The table is the truth: a lane that is taken brings its parked channels with it, so
//     they stay parked over a restart and a change of owner.
//   parked/2. While a channel is parked, its new submissions wait behind the earlier ones: the
//     order stays.
//   parked/3. A channel is tried again with growing pauses, at first by its oldest submission
//     alone.
//   parked/4. At most PARKED_SUBMISSIONS_MAX submissions of a channel wait. (W7)

import type { ChannelId } from '#domain/identity'
import { isOfChannel } from './turn-item.ts'
import type { Item } from './turn-item.ts'

/** Parked channels at most: beyond them the fault is not in single channels. */
export const PARKED_CHANNELS_MAX = 1_000
/** Submissions that wait for one channel at most; further ones become dead letters. */
export const PARKED_SUBMISSIONS_MAX = 100_000
const BATCH_MAX = 256
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000

export interface ParkedChannel {
  readonly channelId: ChannelId
  readonly lane: number
  /** Submissions that wait. */
  waiting: number
  /** Submissions that the next attempt applies. */
  size: number
  pauseMs: number
  dueMs: number
  /** Failures in a row of the oldest submission alone. */
  failures: number
}

/** Items that this turn leaves out, each with the reason. */
export interface Aside {
  readonly parked: ReadonlyMap<Item, string>
  readonly poisoned: ReadonlyMap<Item, string>
}

const BEHIND = 'its channel is parked'
const FULL = 'its channel is parked, and its queue is full'

export class ParkedChannels {
  readonly #channels = new Map<ChannelId, ParkedChannel>()

  get size(): number {
    return this.#channels.size
  }

  has(channelId: ChannelId): boolean {
    return this.#channels.has(channelId)
  }

  /** parked/1: takes over the counts in the table for a lane, by channel. */
  know(lane: number, waiting: ReadonlyMap<ChannelId, number>, nowMs: number): void {
    for (const { channelId } of this.#ofLane(lane)) {
      if (!waiting.has(channelId)) this.#channels.delete(channelId)
    }
    for (const [channelId, count] of waiting) this.#keep({ channelId, lane }, nowMs).waiting = count
  }

  /** Says that another process owns the lane now. */
  forget(lane: number): void {
    for (const { channelId } of this.#ofLane(lane)) this.#channels.delete(channelId)
  }

  forgetAll(): void {
    this.#channels.clear()
  }

  /** Counts a parked submission; true when it is the first of its channel. */
  add(of: Pick<ParkedChannel, 'channelId' | 'lane'>, nowMs: number): boolean {
    const isFirst = !this.has(of.channelId)
    this.#keep(of, nowMs).waiting += 1
    return isFirst
  }

  /** parked/2: gives the items whose channels are parked; undefined when there are none. */
  aside(items: readonly Item[]): Aside | undefined {
    if (this.size === 0) return undefined
    const parked = new Map<Item, string>()
    const poisoned = new Map<Item, string>()
    const added = new Map<ChannelId, number>()
    for (const item of items) {
      const { submission } = item
      if (!isOfChannel(submission)) continue
      const channel = this.#channels.get(submission.channelId)
      if (channel === undefined) continue
      const count = 1 + (added.get(channel.channelId) ?? 0)
      // parked/4
      if (channel.waiting + count > PARKED_SUBMISSIONS_MAX) poisoned.set(item, FULL)
      else {
        added.set(channel.channelId, count)
        parked.set(item, BEHIND)
      }
    }
    return parked.size + poisoned.size === 0 ? undefined : { parked, poisoned }
  }

  /** The channel whose next attempt is due first; undefined when none is. */
  due(nowMs: number): ParkedChannel | undefined {
    let first: ParkedChannel | undefined
    for (const channel of this.#channels.values()) {
      // A clock that is set back must not put an attempt off for longer than its pause.
      const isDue = channel.dueMs <= nowMs || channel.dueMs > nowMs + PAUSE_MS_MAX
      if (isDue && (first === undefined || channel.dueMs < first.dueMs)) first = channel
    }
    return first
  }

  /** Counts the submissions that an attempt applied; true when the channel is parked no longer. */
  applied(channel: ParkedChannel, count: number, nowMs: number): boolean {
    // An earlier attempt whose answer was lost may have applied some: then fewer were left.
    channel.waiting = count < channel.size ? 0 : channel.waiting - count
    const isOver = channel.waiting <= 0
    if (isOver) this.#channels.delete(channel.channelId)
    channel.size = Math.min(BATCH_MAX, channel.size * 2)
    channel.pauseMs = PAUSE_MS_MIN
    channel.dueMs = nowMs
    channel.failures = 0
    return isOver
  }

  /** parked/3 */
  failed(channel: ParkedChannel, nowMs: number): void {
    channel.failures = channel.size === 1 ? channel.failures + 1 : 0
    channel.size = 1
    channel.dueMs = nowMs + channel.pauseMs
    channel.pauseMs = Math.min(PAUSE_MS_MAX, channel.pauseMs * 2)
  }

  #keep(of: Pick<ParkedChannel, 'channelId' | 'lane'>, nowMs: number): ParkedChannel {
    const { channelId, lane } = of
    const kept = this.#channels.get(channelId)
    if (kept !== undefined) return kept
    const dueMs = nowMs + PAUSE_MS_MIN
    const made = {
      channelId,
      lane,
      waiting: 0,
      size: 1,
      pauseMs: 2 * PAUSE_MS_MIN,
      dueMs,
      failures: 0,
    }
    this.#channels.set(channelId, made)
    return made
  }

  #ofLane(lane: number): readonly ParkedChannel[] {
    return [...this.#channels.values()].filter((channel) => channel.lane === lane)
  }
}
