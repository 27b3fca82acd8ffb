// Follows the Messages of channels for a caller that is no device.
//
// Invariants:
//   feed-following/1. The bus only wakes: entries come from the feed, in order and without holes. A
//                     lost announcement costs QUIET_MS at most.
//   feed-following/2. Following ends when the credentials of the channel change or the channel is
//                     deleted: a follower that goes on must prove itself anew.
//   feed-following/3. The number of followers in a process is bounded.

import type { ChannelId } from '#domain/identity'
import type { Bus, Timers } from '#domain/ports'
import type { Announcement, FeedEntry } from '#domain/feed'
import type { HistoryQuery, Page, ReadStore } from '#domain/store-ports'
import type { Meter } from '#domain/telemetry'

export interface FollowingPorts {
  readonly read: Pick<ReadStore, 'history'>
  readonly bus: Pick<Bus, 'listen' | 'onNotice'>
  readonly timers: Timers
  readonly meter: Meter
}

export const FOLLOWERS_MAX = 1_000
/** Milliseconds after which a follower reads the feed without an announcement. */
const QUIET_MS = 45_000

export class FeedFollowing {
  readonly #ports: FollowingPorts
  readonly #followers = new Map<ChannelId, Set<Follower>>()
  #count = 0

  constructor(ports: FollowingPorts) {
    this.#ports = ports
    ports.meter.gauge('feed_streams', {}, () => this.#count)
  }

  /** True when no more followers are taken. (feed-following/3) */
  get isFull(): boolean {
    return this.#count >= FOLLOWERS_MAX
  }

  /** One page of the feed. */
  page(query: HistoryQuery): Promise<Page<FeedEntry>> {
    return this.#ports.read.history(query)
  }

  /** Begins to follow some channels; `signal` ends it. The follower must call `stop` in the end. */
  follow(channelIds: readonly ChannelId[], signal: AbortSignal): Follower {
    const { bus, timers } = this.#ports
    const stopListening = channelIds.map((channelId) =>
      bus.listen(channelId, (announcement) => {
        if (tellsOfMessages(announcement)) follower.wake(channelId)
      }),
    )
    const follower = new Follower(timers, signal, () => {
      for (const stop of stopListening) stop()
      for (const channelId of channelIds) this.#leave(channelId, follower)
    })
    for (const channelId of channelIds) {
      const followers = this.#followers.get(channelId) ?? new Set()
      this.#followers.set(channelId, followers.add(follower))
    }
    this.#count += channelIds.length
    return follower
  }

  #leave(channelId: ChannelId, follower: Follower): void {
    const followers = this.#followers.get(channelId)
    if (followers?.delete(follower) !== true) return
    this.#count -= 1
    if (followers.size === 0) this.#followers.delete(channelId)
  }

  /** Ends all followers of a channel. (feed-following/2) */
  forget(channelId: ChannelId): void {
    for (const follower of this.#followers.get(channelId) ?? []) follower.end()
  }
}

/** Followers get Messages only, so that a busy Thing wakes nobody. */
const tellsOfMessages = ({ entries, headSeq }: Announcement): boolean =>
  headSeq !== undefined || entries.some(({ model }) => model === 'message')

/** A wait ends with the channels that have news, with nothing, or with the end of the following. */
export type FeedUpdate = ReadonlySet<ChannelId> | 'quiet' | 'end'

export class Follower {
  readonly #timers: Timers
  readonly #stop: () => void
  readonly #leave: () => void
  #news = new Set<ChannelId>()
  #isOver = false
  #resolve: ((update: FeedUpdate) => void) | undefined

  constructor(timers: Timers, signal: AbortSignal, stop: () => void) {
    this.#timers = timers
    const end = (): void => this.end()
    signal.addEventListener('abort', end)
    this.#leave = () => signal.removeEventListener('abort', end)
    this.#stop = stop
    if (signal.aborted) end()
  }

  /** Gives the channels with news since the last call, or waits for one. One call at a time. */
  next(): Promise<FeedUpdate> {
    if (this.#isOver) return Promise.resolve('end')
    if (this.#news.size > 0) return Promise.resolve(this.#takeNews())
    const { promise, resolve } = Promise.withResolvers<FeedUpdate>()
    const cancel = this.#timers.after(QUIET_MS, () => this.#report('quiet'))
    this.#resolve = (update) => {
      cancel()
      resolve(update)
    }
    return promise
  }

  wake(channelId: ChannelId): void {
    this.#news.add(channelId)
    if (this.#resolve !== undefined) this.#report(this.#takeNews())
  }

  end(): void {
    this.#isOver = true
    this.#report('end')
  }

  stop(): void {
    this.#leave()
    this.#stop()
  }

  #takeNews(): ReadonlySet<ChannelId> {
    const news = this.#news
    this.#news = new Set()
    return news
  }

  #report(update: FeedUpdate): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    resolve?.(update)
  }
}
