// Follows the Messages and Events of channels for callers that are no devices.
//
// Invariants:
//   feed-following/1. The channels that callers follow are bounded, in a process and from one
//                     address.
//   feed-following/2. A change of a channel's credentials and its end reach every follower of the
//                     channel; so does `recheck`, within RECHECK_MS, and the time at which a key of
//                     the follower expires.

import type { ChannelId } from '#domain/identity'
import type { Bus, NowMs, Timers } from '#domain/ports'
import type { Event } from '#domain/entity'
import type { Announcement, FeedEntry } from '#domain/feed'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { Slots } from '#domain/bounds/slots'
import type { SlotBounds } from '#domain/bounds/slots'
import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { Page, ReadStore } from '#domain/store-ports'
import type { Meter } from '#domain/telemetry'
import { Follower } from './follower.ts'
import type { StillOpens } from './follower.ts'

export interface FollowingPorts {
  readonly read: Pick<ReadStore, 'history' | 'event'>
  readonly bus: Pick<Bus, 'listen' | 'onNotice'>
  readonly timers: Timers
  readonly nowMs: NowMs
  readonly meter: Meter
}

/** The channels that a caller follows, and its right to them. */
export interface Following {
  readonly channelIds: readonly ChannelId[]
  /** The address by which budgets count the caller; undefined when none does. */
  readonly address: string | undefined
  /** Unix milliseconds at which the first of its keys expires; 0 when none does. */
  readonly expiresAt: number
  readonly stillOpens: StillOpens
}

export const FOLLOWED: SlotBounds = { total: 1_000, perAddress: 100 }
/** Milliseconds over which the followers of a process ask the store whether they may go on. */
const RECHECK_MS = 2_000
const RETRY_AFTER_MS = 60_000
/** The longest wait of one timer for a key to expire. */
const TIMER_MAX_MS = 3_600_000

export class FeedFollowing {
  readonly #ports: FollowingPorts
  readonly #followers = new Map<ChannelId, Set<Follower>>()
  readonly #slots = new Slots(FOLLOWED)

  constructor(ports: FollowingPorts) {
    this.#ports = ports
    ports.meter.gauge('feed_streams', {}, () => this.#slots.taken)
  }

  /** Returns the refusal of a caller that would follow too many channels. (feed-following/1) */
  refusal({ channelIds, address }: Pick<Following, 'channelIds' | 'address'>): Fault | undefined {
    const code = this.#slots.refusal(address, channelIds.length)
    if (code === undefined) return undefined
    if (code === 'server_busy') return fault(code, { detail: 'too many subscribers read here' })
    return fault(code, { retryAfterMs: RETRY_AFTER_MS, limit: FOLLOWED.perAddress })
  }

  /** One page of the feed. */
  page(query: HistoryQuery): Promise<Page<FeedEntry>> {
    return this.#ports.read.history(query)
  }

  /** The present state of an Event. */
  event(channelId: ChannelId, eventId: string): Promise<Event | undefined> {
    return this.#ports.read.event(channelId, eventId)
  }

  /**
   * Begins to follow some channels; `signal` ends it. The follower must call `stop` in the end.
   * Returns undefined when the caller would follow too many. (feed-following/1)
   */
  follow(following: Following, signal: AbortSignal): Follower | undefined {
    const { channelIds, address, expiresAt, stillOpens } = following
    const slot = this.#slots.take(address, channelIds.length)
    if (typeof slot === 'string') return undefined
    const stops = channelIds.map((channelId) =>
      this.#ports.bus.listen(channelId, (announcement) => {
        if (tellsFollowers(announcement)) follower.wake(channelId)
      }),
    )
    const follower = new Follower({ ...this.#ports, stillOpens }, signal, () => {
      for (const stop of stops) stop()
      for (const channelId of channelIds) this.#leave(channelId, follower)
      slot.release()
    })
    for (const channelId of channelIds) {
      const followers = this.#followers.get(channelId) ?? new Set()
      this.#followers.set(channelId, followers.add(follower))
    }
    if (expiresAt > 0) stops.push(this.#atExpiry(expiresAt, follower))
    return follower
  }

  /** Lets a follower prove itself anew when its key expires. (feed-following/2) */
  #atExpiry(expiresAt: number, follower: Follower): () => void {
    const { timers, nowMs } = this.#ports
    let cancel = (): void => undefined
    const wait = (): void => {
      const left = expiresAt - nowMs()
      if (left <= 0) void follower.prove()
      else cancel = timers.after(Math.min(left, TIMER_MAX_MS), wait)
    }
    wait()
    return () => cancel()
  }

  #leave(channelId: ChannelId, follower: Follower): void {
    const followers = this.#followers.get(channelId)
    if (followers?.delete(follower) === true && followers.size === 0) {
      this.#followers.delete(channelId)
    }
  }

  /**
   * Lets the followers of a channel prove themselves anew. Called after kept answers about its
   * credentials are dropped. (feed-following/2)
   */
  changed(channelId: ChannelId): void {
    for (const follower of this.#followers.get(channelId) ?? []) void follower.prove()
  }

  /** Lets every follower check itself. Called when notices may be lost. (feed-following/2) */
  recheck(): void {
    const all = new Set([...this.#followers.values()].flatMap((followers) => [...followers]))
    for (const [index, follower] of [...all].entries()) {
      this.#ports.timers.after((RECHECK_MS * index) / all.size, () => void follower.check())
    }
  }
}

/** Followers get Messages and Events, so that a busy Thing wakes nobody. */
const tellsFollowers = ({ entries, headSeq }: Announcement): boolean =>
  headSeq !== undefined || entries.some(({ model }) => model !== 'thing')
