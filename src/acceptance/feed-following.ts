// The feed of a channel while it grows, for a caller that reads it without being a device.
//
// Invariants:
//   feed-following/1. The bus only wakes: entries come from the feed, in order and without holes. A
//                     lost announcement costs QUIET_MS at most.
//   feed-following/2. Following ends when the credentials of the channel change or the channel is
//                     deleted: whoever goes on proves itself anew.
//   feed-following/3. There is a greatest number of followers in this process.

import type { ChannelId } from '#domain/identity'
import type { Bus, Timers } from '#domain/ports'
import type { FeedEntry } from '#domain/feed'
import type { HistoryQuery, Page, ReadStore } from '#domain/store-ports'
import type { Meter } from '#domain/telemetry'

export interface FollowingPorts {
  readonly read: Pick<ReadStore, 'history'>
  readonly bus: Pick<Bus, 'listen' | 'onNotice'>
  readonly timers: Timers
  readonly meter: Meter
}

export const FOLLOWERS_MAX = 1_000
/** How long a follower waits before it looks at the feed all the same. */
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

  /** Begins to follow; `signal` ends it. Whoever follows calls `stop` in the end. */
  follow(channelId: ChannelId, signal: AbortSignal): Follower {
    const { bus, timers } = this.#ports
    const followers = this.#followers.get(channelId) ?? new Set()
    const stopListening = bus.listen(channelId, () => follower.wake('news'))
    const follower = new Follower(timers, signal, () => {
      stopListening()
      followers.delete(follower)
      if (followers.size === 0) this.#followers.delete(channelId)
      this.#count -= 1
    })
    this.#followers.set(channelId, followers.add(follower))
    this.#count += 1
    return follower
  }

  /** Ends everybody who follows a channel. (feed-following/2) */
  forget(channelId: ChannelId): void {
    for (const follower of this.#followers.get(channelId) ?? []) follower.wake('end')
  }
}

/** What a follower waited for: entries may be there, nothing was heard, or it is over. */
export type Heard = 'news' | 'quiet' | 'end'

export class Follower {
  readonly #timers: Timers
  readonly #stop: () => void
  readonly #leave: () => void
  #heard: Heard | undefined
  #resolve: ((heard: Heard) => void) | undefined

  constructor(timers: Timers, signal: AbortSignal, stop: () => void) {
    this.#timers = timers
    const end = (): void => this.wake('end')
    signal.addEventListener('abort', end)
    this.#leave = () => signal.removeEventListener('abort', end)
    this.#stop = stop
    if (signal.aborted) end()
  }

  /** What was heard since the last time, or the next thing. Not while another call waits. */
  next(): Promise<Heard> {
    const heard = this.#heard
    if (heard !== undefined) {
      if (heard !== 'end') this.#heard = undefined
      return Promise.resolve(heard)
    }
    const { promise, resolve } = Promise.withResolvers<Heard>()
    const cancel = this.#timers.after(QUIET_MS, () => this.wake('quiet'))
    this.#resolve = (told) => {
      cancel()
      resolve(told)
    }
    return promise
  }

  wake(heard: Heard): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    if (heard === 'end' || (resolve === undefined && this.#heard !== 'end')) this.#heard = heard
    resolve?.(heard)
  }

  stop(): void {
    this.#leave()
    this.#stop()
  }
}
