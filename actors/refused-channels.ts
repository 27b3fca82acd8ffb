// Channels of this process's lanes whose rows the database refuses, or in which a defect of this
// program breaks turn after turn. For a while their submissions become dead letters at once, so
// that the lanes go on. (W6)
//
// Invariants:
//   refused-channels/1. A channel is tried again by its next submission alone, at first at once:
//     the database may have recovered between the last attempt and the dead letter. Each attempt
//     that fails doubles the pause before the next one.
//   refused-channels/2. At most REFUSED_CHANNELS_MAX channels: beyond them the fault is not in
//     single channels.

import type { ChannelId } from '#domain/identity'
import { isOfChannel } from './turn-item.ts'
import type { Item } from './turn-item.ts'

export const REFUSED_CHANNELS_MAX = 1_000
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000

const NONE: readonly ChannelId[] = []
const REASON = 'the database refuses rows of its channel'

interface RefusedChannel {
  readonly lane: number
  pauseMs: number
  /** The time from which it is tried again. */
  dueMs: number
}

export class RefusedChannels {
  readonly #channels = new Map<ChannelId, RefusedChannel>()

  get size(): number {
    return this.#channels.size
  }

  has(channelId: ChannelId): boolean {
    return this.#channels.has(channelId)
  }

  /** Those that are not tried again yet: what is due in them waits. */
  resting(nowMs: number): readonly ChannelId[] {
    if (this.size === 0) return NONE
    return [...this.#channels.keys()].filter((channelId) => this.#isResting(channelId, nowMs))
  }

  /** True when one more may be refused. (refused-channels/2) */
  get hasRoom(): boolean {
    return this.size < REFUSED_CHANNELS_MAX
  }

  /** Says that an attempt failed; true for the first of a channel. (refused-channels/1) */
  failed(channelId: ChannelId, lane: number, nowMs: number): boolean {
    const known = this.#channels.get(channelId)
    const pauseMs = known === undefined ? 0 : pauseAfter(known)
    this.#channels.set(channelId, { lane, pauseMs, dueMs: nowMs + pauseMs })
    return known === undefined
  }

  /** Says that the database took rows of a channel; true when it had refused them until now. */
  taken(channelId: ChannelId): boolean {
    return this.#channels.delete(channelId)
  }

  /** Says that another process owns the lane now. */
  forget(lane: number): void {
    for (const [channelId, channel] of this.#channels) {
      if (channel.lane === lane) this.#channels.delete(channelId)
    }
  }

  /**
   * refused-channels/1: returns the items up to the next attempt, or that one alone: those behind
   * it wait for its end.
   */
  upToAttempt(items: readonly Item[], nowMs: number): readonly Item[] {
    if (this.size === 0) return items
    const first = items.findIndex((item) => this.#isAttempt(item, nowMs))
    return first < 0 ? items : items.slice(0, Math.max(1, first))
  }

  /** The items of these channels, each with the reason; undefined when there are none. */
  setAside(items: readonly Item[], nowMs: number): ReadonlyMap<Item, string> | undefined {
    if (this.size === 0) return undefined
    const aside = items.filter(
      ({ submission }) => isOfChannel(submission) && this.#isResting(submission.channelId, nowMs),
    )
    return aside.length === 0 ? undefined : new Map(aside.map((item) => [item, REASON]))
  }

  #isResting(channelId: ChannelId, nowMs: number): boolean {
    const channel = this.#channels.get(channelId)
    return channel !== undefined && !isDue(channel, nowMs)
  }

  #isAttempt({ submission }: Item, nowMs: number): boolean {
    const channel = isOfChannel(submission) && this.#channels.get(submission.channelId)
    return channel !== false && channel !== undefined && isDue(channel, nowMs)
  }
}

const pauseAfter = ({ pauseMs }: RefusedChannel): number =>
  Math.min(PAUSE_MS_MAX, Math.max(PAUSE_MS_MIN, 2 * pauseMs))

/** A clock that is set back must not put an attempt off for longer than its pause. */
const isDue = ({ dueMs }: RefusedChannel, nowMs: number): boolean =>
  dueMs <= nowMs || dueMs > nowMs + PAUSE_MS_MAX
