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

import type { ChannelId } from '#domain/identity'
import type { Timers } from '#domain/ports'

/** What one channel has between its callers and the state. */
interface Channel<Item> {
  readonly lane: Lane<Item>
  /** Submissions without an answer, and their bytes. */
  unanswered: number
  bytes: number
  /** Submissions on their way to their effect. */
  onTheirWay: number
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
  /** True when the lane has applied something since its watch began. */
  hasMoved: boolean
}

export interface SharesOptions<Item> {
  readonly lanes: number
  readonly shareMax: number
  readonly aloneMax: number
  readonly timers: Timers
  /** Called with each submission whose turn has come. */
  readonly enter: (lane: number, item: Item) => void
}

const CHANNELS_KEPT_MAX = 10_000
const STUCK_MS = 1_000

export class ChannelShares<Item> {
  readonly #options: SharesOptions<Item>
  readonly #lanes: readonly Lane<Item>[]
  readonly #channels = new Map<ChannelId, Channel<Item>>()
  #waiting = 0

  constructor(options: SharesOptions<Item>) {
    this.#options = options
    this.#lanes = Array.from({ length: options.lanes }, (_, number) => newLane(number))
  }

  /** Submissions that wait for their channel's earlier ones. */
  get waiting(): number {
    return this.#waiting
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
  ended(channelId: ChannelId): void {
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return
    channel.onTheirWay -= 1
    if (channel.onTheirWay === 0) channel.lane.active -= 1
    this.#drop(channelId, channel)
  }

  /** Lets in what waited for those of a lane that have ended. `hasApplied`: some were applied. */
  release(laneNumber: number, hasApplied: boolean): void {
    const lane = this.#lanes[laneNumber]
    if (lane === undefined) return
    if (hasApplied) {
      lane.hasMoved = true
      lane.isStuck = false
    }
    for (const channel of lane.behind) this.#advance(channel)
  }

  #advance(channel: Channel<Item>): void {
    const { waiting, lane } = channel
    if (waiting === undefined) return
    while (waiting.next < waiting.items.length && this.#mayEnter(channel)) {
      const item = waiting.items[waiting.next]
      waiting.next += 1
      this.#waiting -= 1
      if (item !== undefined) this.#enter(channel, item)
    }
    if (waiting.next < waiting.items.length) {
      waiting.items.splice(0, waiting.next)
      waiting.next = 0
      return
    }
    channel.waiting = undefined
    lane.behind.delete(channel)
  }

  #enter(channel: Channel<Item>, item: Item): void {
    if (channel.onTheirWay === 0) channel.lane.active += 1
    channel.onTheirWay += 1
    this.#options.enter(channel.lane.number, item)
  }

  /** channel-shares/1 */
  #mayEnter({ lane, onTheirWay }: Channel<Item>): boolean {
    const { shareMax, aloneMax } = this.#options
    return onTheirWay < (lane.active > 1 ? shareMax : aloneMax) || lane.isStuck
  }

  /** channel-shares/3 */
  #watch(lane: Lane<Item>): void {
    if (lane.isWatched) return
    lane.isWatched = true
    lane.hasMoved = false
    this.#options.timers.after(STUCK_MS, () => {
      lane.isWatched = false
      if (lane.behind.size === 0) return
      if (lane.hasMoved) return this.#watch(lane)
      lane.isStuck = true
      this.release(lane.number, false)
    })
  }

  #channelOf(channelId: ChannelId, laneNumber: number): Channel<Item> {
    const known = this.#channels.get(channelId)
    if (known !== undefined) return known
    const lane = this.#lanes[laneNumber] ?? newLane(laneNumber)
    const channel = { lane, unanswered: 0, bytes: 0, onTheirWay: 0, waiting: undefined }
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
  hasMoved: false,
})
