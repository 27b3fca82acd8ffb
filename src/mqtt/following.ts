// Follows the channel of one subscriber: performs what its session asks of the feed, and brings it
// what the bus and the store say.
//
// Invariants:
//   mqtt-following/1. The listening begins before the head is read, so no entry is between them.
//   mqtt-following/2. A connection that is gone listens to nothing.
//   mqtt-following/3. The present state is read as fast as the client takes it, one page at a time;
//                     what the client has no room for is read again, and not kept.
//   mqtt-following/4. A place among the reads is held for one read, never for a client.
//   mqtt-following/5. One client has one reading of present state at a time; what it asks for
//                     meanwhile waits, and is bounded.

import type { ChannelId } from '#domain/identity'
import type { MqttSessionStore, SessionOwner } from '#domain/mqtt/sessions'
import type { Position } from '#domain/feed'
import type { Runtime } from '#domain/runtime'
import type { Limiter } from '#domain/bounds/limiter'
import { reportDefect } from '#domain/defect'
import type { FeedEntry } from '#domain/feed'
import type { ChannelStore, Page, ReadStore, SubscriptionStore } from '#domain/store-ports'
import type { Logger } from '#domain/telemetry'
import type { Acknowledgements } from '#src/transports/acknowledgements'
import type { ChannelListeners } from '#src/transports/channel-listeners'
import type { Frame, FramePage } from '#src/transports/signals'
import { SUBSCRIPTIONS_MAX } from './bounds.ts'
import { freshOf, stateOfEvent, stateOfThing } from './news.ts'
import type { News } from './news.ts'
import type { FeedNews, FeedRequest, StoredSubscription } from './subscriber.ts'

export interface FollowingPorts {
  readonly listeners: ChannelListeners<Following>
  readonly read: Pick<ReadStore, 'catchUp' | 'things' | 'events' | 'thing'>
  readonly channels: Pick<ChannelStore, 'info'>
  readonly mqttSessions: Pick<MqttSessionStore, 'subscribe'>
  readonly subscriptions: Pick<SubscriptionStore, 'subscribe' | 'unsubscribe' | 'position'>
  readonly acknowledgements: Pick<Acknowledgements, 'record' | 'flush'>
  readonly runtime: Pick<Runtime, 'nowMs'>
  readonly reads: Limiter
  readonly logger: Pick<Logger, 'warn'>
  /** Counts a subscription of a kept session for which there is no place. */
  readonly crowded: () => void
}

/** The connection of the subscriber. */
export interface FollowedBy {
  news(news: FeedNews): void
  /** Sends present state; false when the client has to take some of it before there is more. */
  retained(news: readonly News[]): boolean
  /** Resolves once the client has taken enough for more, or is gone. */
  taken(): Promise<void>
  wantsAttrs(): boolean
  /** The store does not answer: the client has to come back. */
  unavailable(): void
  /** The channel is gone. */
  ended(): void
  /** A newer connection has the session. */
  takenOver(): void
  /** The feed begins again. */
  restarted(): void
}

const PAGE_ITEMS_MAX = 100

/** The part of a state that is still to be read; undefined when there is none. */
type Rest = { readonly before?: number } | undefined

const restFrom = (before: number | undefined): Rest => (before === undefined ? before : { before })

/** An entry for subscribers, who word it by their subscriptions. */
export const entryFrame = (entry: FeedEntry, mode: Frame['mode']): Frame => ({
  seq: entry.seq,
  text: '',
  bytes: Buffer.byteLength(entry.payload),
  mode,
  entry,
})

export class Following {
  readonly #ports: FollowingPorts
  readonly #channelId: ChannelId
  readonly #by: FollowedBy
  readonly #owner: SessionOwner | undefined
  /** The filters whose present state is still to be sent. */
  readonly #wanted = new Map<string, readonly string[]>()
  #isRetaining = false
  #isGone = false

  /** `owner`: of a session that is kept. */
  constructor(
    ports: FollowingPorts,
    channelId: ChannelId,
    { by, owner }: { readonly by: FollowedBy; readonly owner: SessionOwner | undefined },
  ) {
    this.#ports = ports
    this.#channelId = channelId
    this.#by = by
    this.#owner = owner
  }

  perform(request: FeedRequest): void {
    switch (request.kind) {
      case 'follow':
        if (!this.#read(() => this.#follow(request.kept))) this.#by.unavailable()
        break
      case 'retain':
        this.#want(request.filters)
        break
      case 'acknowledge':
        if (this.#owner !== undefined) {
          const { channelId, seq } = request
          this.#ports.acknowledgements.record({ ...this.#owner, channelId, seq })
        }
        break
      case 'resync':
        this.#by.restarted()
        break
      case 'read-pages':
        this.#readPages(request)
    }
  }

  #readPages(request: Extract<FeedRequest, { readonly kind: 'read-pages' }>): void {
    const { ticket, requests, bytes } = request
    const fresh = ({ frames, ...page }: FramePage): FramePage => ({
      ...page,
      frames: freshOf(frames, this.#ports.runtime.nowMs()),
    })
    const recent = this.#ports.listeners.recentPages(requests)
    if (recent.length > 0) return this.news({ kind: 'pages', ticket, pages: recent.map(fresh) })
    const isRead = this.#read(async () => {
      const read = await this.#ports.read.catchUp(requests, bytes)
      const framed = read.map(({ entries, ...rest }) => ({
        ...rest,
        frames: entries.map((entry) => entryFrame(entry, 'replay')),
      }))
      this.news({ kind: 'pages', ticket, pages: framed.map(fresh) })
    })
    if (!isRead) this.news({ kind: 'postponed', ticket })
  }

  news(news: FeedNews): void {
    if (!this.#isGone) this.#by.news(news)
  }

  /** Compares the head with the store, since the bus may have lost an announcement. */
  recheck(): void {
    this.#read(async () => {
      const info = await this.#ports.channels.info(this.#channelId)
      if (info !== undefined) this.news({ kind: 'head', headSeq: info.headSeq })
    })
  }

  end(): void {
    this.#isGone = true
    this.#ports.listeners.leave(this.#channelId, this) // mqtt-following/2
  }

  async #follow(kept: readonly StoredSubscription[] | undefined): Promise<void> {
    const { listeners } = this.#ports
    const channelId = this.#channelId
    if (kept?.length === 0) {
      listeners.leave(channelId, this)
      return this.#keep(kept)
    }
    listeners.join(channelId, this) // mqtt-following/1
    await listeners.settled()
    if (kept !== undefined) return this.#keep(kept)
    const info = await this.#ports.channels.info(channelId)
    if (info === undefined) return this.#gone()
    const { channelName } = info
    const headSeq = Math.max(info.headSeq, listeners.headOf(channelId))
    this.#follows({ channelId, channelName, headSeq, sinceSeq: headSeq, ackedSeq: headSeq })
  }

  /** Goes on from the place that the kept session has, or from the present one. */
  async #keep(kept: readonly StoredSubscription[]): Promise<void> {
    const { mqttSessions, subscriptions, acknowledgements, runtime } = this.#ports
    const channelId = this.#channelId
    if (this.#owner === undefined) return
    const { deviceId } = this.#owner
    const isOwned = await mqttSessions.subscribe(this.#owner, JSON.stringify(kept))
    if (!isOwned) return this.#by.takenOver()
    if (kept.length === 0) {
      await subscriptions.unsubscribe(deviceId, channelId, runtime.nowMs())
      return this.news({ kind: 'following', position: undefined })
    }
    await acknowledgements.flush() // An earlier connection may have moved it here.
    const { kind } = await subscriptions.subscribe(deviceId, channelId, runtime.nowMs())
    if (kind === 'full') {
      this.#ports.crowded()
      this.#ports.listeners.leave(channelId, this)
      return this.news({ kind: 'full' })
    }
    const position = await subscriptions.position(deviceId, channelId)
    if (position === undefined) this.#gone()
    else this.#follows(position)
  }

  #follows(position: Position): void {
    const { listeners } = this.#ports
    const { channelId } = position
    if (this.#isGone) return listeners.leave(channelId, this) // mqtt-following/2
    const headSeq = Math.max(position.headSeq, listeners.headOf(channelId))
    this.news({ kind: 'following', position: { ...position, headSeq } })
  }

  #gone(): void {
    this.#ports.listeners.leave(this.#channelId, this) // mqtt-following/2
    if (!this.#isGone) this.#by.ended()
  }

  /** mqtt-following/5 */
  #want(filters: readonly (readonly string[])[]): void {
    for (const levels of filters) this.#wanted.set(levels.join('/'), levels)
    if (this.#wanted.size > SUBSCRIPTIONS_MAX) this.#by.unavailable()
    else if (!this.#isRetaining) void this.#retain()
  }

  async #retain(): Promise<void> {
    this.#isRetaining = true
    try {
      while (this.#wanted.size > 0 && !this.#isGone) {
        const filters = [...this.#wanted.values()]
        this.#wanted.clear()
        await this.#stateOf(filters)
      }
    } catch (error) {
      this.#failed(error)
    }
    this.#isRetaining = false
  }

  async #stateOf(filters: readonly (readonly string[])[]): Promise<void> {
    const wants = (model: string): boolean =>
      filters.some(([first]) => first === model || first === '+' || first === '#')
    const { read } = this.#ports
    const channelId = this.#channelId
    const ids = filters.map(([first, id = '+']) => (first === 'things' ? id : '+'))
    if (wants('things') && !ids.some((id) => id === '+' || id === '#')) {
      for (const id of new Set(ids)) await this.#retainThing(id)
    } else if (wants('things')) {
      await this.#pages(
        (page) => read.things({ channelId, ...page, state: 'active' }),
        (thing) => stateOfThing(thing, this.#by.wantsAttrs()),
      )
    }
    if (wants('events')) {
      await this.#pages(
        (page) => read.events({ channelId, ...page, state: 'open' }),
        (event) => [stateOfEvent(event)],
      )
    }
  }

  async #retainThing(id: string): Promise<void> {
    const thing = await this.#inTurn(() => this.#ports.read.thing(this.#channelId, id))
    if (this.#isGone || thing?.state !== 'active') return
    if (!this.#by.retained(stateOfThing(thing, this.#by.wantsAttrs()))) await this.#by.taken()
  }

  /** mqtt-following/3 */
  async #pages<Item extends { readonly seq: number }>(
    read: (page: { readonly before?: number; readonly limit: number }) => Promise<Page<Item>>,
    newsOf: (item: Item) => readonly News[],
  ): Promise<void> {
    let limit = PAGE_ITEMS_MAX
    let rest: Rest = {}
    while (rest !== undefined && !this.#isGone) {
      const from: Rest = rest
      const { items, next }: Page<Item> = await this.#inTurn(() => read({ ...from, limit }))
      if (this.#isGone) return
      const full = items.findIndex((item) => !this.#by.retained(newsOf(item)))
      const isSent = full === -1 || full === items.length - 1
      rest = restFrom(isSent ? next : items[full]?.seq)
      limit = full === -1 ? Math.min(2 * limit, PAGE_ITEMS_MAX) : full + 1
      if (full !== -1) await this.#by.taken()
    }
  }

  /** Reads once there is a place; rejects when too many reads wait. (mqtt-following/4) */
  #inTurn<Value>(read: () => Promise<Value>): Promise<Value> {
    return this.#ports.reads.run(read) ?? Promise.reject(new Error('too many reads wait'))
  }

  /** False when too many reads wait. */
  #read(job: () => Promise<void>): boolean {
    const read = this.#ports.reads.run(async () => {
      if (this.#isGone) return
      await job().catch((error: unknown) => this.#failed(error))
    })
    return read !== undefined
  }

  #failed(error: unknown): void {
    this.#ports.logger.warn('the store did not answer a session', { ...reportDefect(error) })
    if (!this.#isGone) this.#by.unavailable()
  }
}
