// Lets the submissions of a channel into their lane as fast as they are applied. A lane is applied
// in its order: what one channel has in the log beyond that, all others would wait behind.
//
// Invariants:
//   channel-shares/1. At most `shareMax` submissions of a channel are on their way to their effect:
//     in a batch, or in the log and not known to be applied. Others wait here. A channel that is
//     alone on the way may have `aloneMax`: nobody waits behind it. (W8)
//   channel-shares/2. The submissions of a channel enter in the order in which they came.
//   channel-shares/3. Once a lane has applied nothing for STUCK_MS while some wait, they enter all
//     the same, until it applies again: the log takes them while the database is away.
//   channel-shares/4. What may follow by rules has shares of its own over all lanes (see
//     following.ts). Channels with many rules take turns in these, one submission each. While their
//     lane applies nothing they do not enter, and are refused after REFUSED_AFTER checks.

import type { ChannelId } from '#domain/identity'
import type { Reach, Timers } from '#domain/ports'
import type { Submission } from '#domain/submission'
import { Following, unfollowed } from './following.ts'
import type { Followed, FollowingOptions } from './following.ts'

/** What one channel has between its callers and the state. */
interface Channel<Item> extends Followed {
  readonly lane: Lane<Item>
  /** Submissions without an answer, and their bytes. */
  unanswered: number
  bytes: number
  /** Undefined while none waits, as mostly. */
  waiting: Queue<Item> | undefined
}

/** Items from `next` on. */
interface Queue<Item> {
  readonly items: Item[]
  next: number
}

interface Lane<Item> {
  readonly number: number
  /** Channels of which submissions wait. */
  readonly behind: Set<Channel<Item>>
  /** Channels of which submissions are on their way. */
  active: number
  /** True while the lane applies nothing. (channel-shares/3) */
  isStuck: boolean
  isWatched: boolean
  /** Checks in a row that found that it applies nothing. */
  stillFor: number
  /** True when the lane has applied something since its watch began. */
  hasMoved: boolean
}

export interface SharesOptions<Item> extends FollowingOptions {
  readonly lanes: number
  readonly aloneMax: number
  readonly timers: Timers
  /** True for a submission that changes the rules of its channel. */
  readonly changesRules: (item: Item) => boolean
  /** Called with each submission whose turn has come. */
  readonly enter: (lane: number, item: Item) => void
  /** Called with each submission that the log does not take while its lane stands still. */
  readonly refuse: (lane: number, item: Item) => void
}

const CHANNELS_KEPT_MAX = 10_000
const STUCK_MS = 1_000
const REFUSED_AFTER = 5

export class ChannelShares<Item> {
  readonly #options: SharesOptions<Item>
  readonly #lanes: readonly Lane<Item>[]
  readonly #channels = new Map<ChannelId, Channel<Item>>()
  readonly #following: Following
  /** Channels of all lanes that wait for what may follow from others. (channel-shares/4) */
  readonly #crowd = new Set<Channel<Item>>()
  #waiting = 0

  constructor(options: SharesOptions<Item>) {
    this.#options = options
    this.#following = new Following(options)
    this.#lanes = Array.from({ length: options.lanes }, (_, number) => newLane(number))
  }

  /** Submissions that wait for their channel's earlier ones. */
  get waiting(): number {
    return this.#waiting
  }

  /** Changes that rules may make of what is on its way, for channels with many of them. */
  get following(): number {
    return this.#following.sum
  }

  /** Submissions of a channel without an answer, and their bytes. */
  unansweredOf(channelId: ChannelId): Readonly<Pick<Channel<Item>, 'unanswered' | 'bytes'>> {
    return this.#channels.get(channelId) ?? NOTHING
  }

  /** Takes a submission, which enters now or when its turn has come. (channel-shares/2) */
  add(channelId: ChannelId, laneNumber: number, item: Item, bytes: number): void {
    const channel = this.#channelOf(channelId, laneNumber)
    channel.unanswered += 1
    channel.bytes += bytes
    if (channel.waiting === undefined && this.#mayEnter(channel)) this.#enter(channel, item)
    else {
      channel.waiting ??= { items: [], next: 0 }
      channel.waiting.items.push(item)
      this.#waiting += 1
      channel.lane.behind.add(channel)
      if (!channel.isPlain) this.#crowd.add(channel)
      this.#watch(channel.lane)
    }
  }

  /** One of a channel's submissions is answered. */
  answered(channelId: ChannelId, bytes: number): void {
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return
    channel.unanswered -= 1
    channel.bytes -= bytes
    this.#drop(channelId, channel)
  }

  /** One of a channel's submissions is applied, or the log does not have it. */
  ended({ channelId, model }: Pick<Submission, 'channelId' | 'model'>, isApplied = true): void {
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return
    channel.onTheirWay -= 1
    if (channel.onTheirWay === 0) channel.lane.active -= 1
    if (!channel.isPlain) {
      if (model === 'rule') channel.changing -= 1
      if (isApplied) channel.reach ??= 0 // following/2
      this.#following.count(channel)
    }
    this.#drop(channelId, channel)
  }

  /** The owner of a lane tells how far the rules of channels reach. */
  tell(reaches: readonly Reach[]): void {
    for (const [channelId, reach] of reaches) {
      const channel = this.#channels.get(channelId)
      if (channel === undefined) continue
      channel.reach = reach
      this.#following.count(channel)
      if (channel.waiting !== undefined) this.#crowd.add(channel)
    }
  }

  /** Lets in what waited for those of a lane that have ended. `hasApplied`: some were applied. */
  release(laneNumber: number, hasApplied: boolean): void {
    const lane = this.#lanes[laneNumber]
    if (lane === undefined) return
    if (hasApplied) {
      lane.hasMoved = true
      lane.isStuck = false
      lane.stillFor = 0
    }
    for (const channel of lane.behind) if (channel.isPlain) this.#advance(channel)
    for (const channel of this.#crowd) {
      if (!this.#advance(channel, 1) || channel.waiting === undefined) continue
      this.#crowd.delete(channel) // channel-shares/4: its next turn comes after the others'.
      this.#crowd.add(channel)
    }
  }

  /** Lets in what waits of a channel, `most` at most; true when something entered. */
  #advance(channel: Channel<Item>, most = Infinity): boolean {
    const { waiting } = channel
    if (waiting === undefined) return false
    let count = 0
    while (waiting.next < waiting.items.length && count < most && this.#mayEnter(channel)) {
      const item = waiting.items[waiting.next]
      waiting.next += 1
      count += 1
      if (item !== undefined) this.#enter(channel, item)
    }
    this.#waiting -= count
    if (waiting.next < waiting.items.length) {
      waiting.items.splice(0, waiting.next)
      waiting.next = 0
    } else this.#empty(channel)
    return count > 0
  }

  #empty(channel: Channel<Item>): void {
    channel.waiting = undefined
    channel.lane.behind.delete(channel)
    this.#crowd.delete(channel)
  }

  #enter(channel: Channel<Item>, item: Item): void {
    if (channel.onTheirWay === 0) channel.lane.active += 1
    channel.onTheirWay += 1
    const isChange = this.#options.changesRules(item)
    if (isChange) channel.changing += 1
    if (isChange || !channel.isPlain) this.#following.count(channel)
    this.#options.enter(channel.lane.number, item)
  }

  /** channel-shares/1 */
  #mayEnter(channel: Channel<Item>): boolean {
    const { lane, onTheirWay, isPlain, reach } = channel
    const { shareMax, aloneMax } = this.#options
    const hasRoom = onTheirWay < (lane.active > 1 ? shareMax : aloneMax) || lane.isStuck
    if (isPlain || !hasRoom) return hasRoom
    const isNew = reach === undefined && lane.isStuck
    return isNew || this.#following.mayEnter(channel)
  }

  /** channel-shares/3, channel-shares/4 */
  #watch(lane: Lane<Item>): void {
    if (lane.isWatched) return
    lane.isWatched = true
    lane.hasMoved = false
    this.#options.timers.after(STUCK_MS, () => {
      lane.isWatched = false
      if (lane.behind.size === 0) return
      if (lane.hasMoved || lane.active === 0) return this.#watch(lane)
      lane.isStuck = true
      lane.stillFor += 1
      this.release(lane.number, false)
      if (lane.stillFor < REFUSED_AFTER) return this.#watch(lane)
      for (const channel of lane.behind) this.#refuse(channel)
    })
  }

  /** channel-shares/4 */
  #refuse(channel: Channel<Item>): void {
    const { items, next } = channel.waiting ?? { items: [], next: 0 }
    this.#empty(channel)
    this.#waiting -= items.length - next
    for (const item of items.slice(next)) this.#options.refuse(channel.lane.number, item)
  }

  #channelOf(channelId: ChannelId, laneNumber: number): Channel<Item> {
    const known = this.#channels.get(channelId)
    if (known !== undefined) return known
    const lane = this.#lanes[laneNumber] ?? newLane(laneNumber)
    const channel = { ...unfollowed(), lane, unanswered: 0, bytes: 0, waiting: undefined }
    this.#channels.set(channelId, channel)
    return channel
  }

  /** A channel often sends again soon, so it stays while they are few. */
  #drop(channelId: ChannelId, { unanswered, onTheirWay }: Channel<Item>): void {
    if (unanswered > 0 || onTheirWay > 0) return
    if (this.#channels.size > CHANNELS_KEPT_MAX) this.#channels.delete(channelId)
  }
}

const NOTHING = { unanswered: 0, bytes: 0 }

const newLane = <Item>(number: number): Lane<Item> => ({
  number,
  behind: new Set(),
  active: 0,
  isStuck: false,
  isWatched: false,
  stillFor: 0,
  hasMoved: false,
})
