// Follows the channel of one subscriber: performs what its session asks of the feed, and brings it
// what the bus and the store say.
//
// Invariants:
//   mqtt-following/1. The listening begins before the head is read, so no entry is between them.
//   mqtt-following/2. A connection that is gone listens to nothing.
//   mqtt-following/3. The present state is read page by page, as fast as the client takes it.

import type { ChannelId } from '#domain/identity'
import type { Limiter } from '#domain/bounds/limiter'
import { reportDefect } from '#domain/defect'
import type { FeedEntry } from '#domain/feed'
import type { ChannelStore, Page, ReadStore } from '#domain/store-ports'
import type { Logger } from '#domain/telemetry'
import type { ChannelListeners } from '#src/transports/channel-listeners'
import type { Frame } from '#src/transports/signals'
import { stateOfEvent, stateOfThing } from './news.ts'
import type { News } from './news.ts'
import type { FeedNews, FeedRequest } from './subscriber.ts'

export interface FollowingPorts {
  readonly listeners: ChannelListeners<Following>
  readonly read: Pick<ReadStore, 'catchUp' | 'things' | 'events' | 'thing'>
  readonly channels: Pick<ChannelStore, 'info'>
  readonly reads: Limiter
  readonly logger: Pick<Logger, 'warn'>
}

/** The connection of the subscriber. */
export interface FollowedBy {
  news(news: FeedNews): void
  /** Sends present state; resolves once the client has taken enough of it for more. */
  retained(news: readonly News[]): Promise<void>
  wantsAttrs(): boolean
  /** The store does not answer: the client has to come back. */
  unavailable(): void
  /** The channel is gone. */
  ended(): void
}

const PAGE_ITEMS = 100

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
  #isGone = false

  constructor(ports: FollowingPorts, channelId: ChannelId, by: FollowedBy) {
    this.#ports = ports
    this.#channelId = channelId
    this.#by = by
  }

  perform(request: FeedRequest): void {
    if (request.kind === 'follow') this.#read(() => this.#follow())
    else if (request.kind === 'retain') this.#read(() => this.#retain(request.filters))
    else {
      const { ticket, requests, bytes } = request
      const pages = this.#ports.listeners.recentPages(requests)
      if (pages.length > 0) return this.news({ kind: 'pages', ticket, pages })
      const isRead = this.#read(async () => {
        const read = await this.#ports.read.catchUp(requests, bytes)
        const framed = read.map(({ entries, ...rest }) => ({
          ...rest,
          frames: entries.map((entry) => entryFrame(entry, 'replay')),
        }))
        this.news({ kind: 'pages', ticket, pages: framed })
      })
      if (!isRead) this.news({ kind: 'postponed', ticket })
    }
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

  async #follow(): Promise<void> {
    const { listeners, channels } = this.#ports
    const channelId = this.#channelId
    listeners.join(channelId, this) // mqtt-following/1
    await listeners.settled()
    const info = await channels.info(channelId)
    if (this.#isGone) return listeners.leave(channelId, this) // mqtt-following/2
    if (info === undefined) return this.#by.ended()
    const headSeq = Math.max(info.headSeq, listeners.headOf(channelId))
    const { channelName } = info
    const position = { channelId, channelName, headSeq, sinceSeq: headSeq, ackedSeq: headSeq }
    this.news({ kind: 'following', position })
  }

  async #retain(filters: readonly (readonly string[])[]): Promise<void> {
    const wants = (model: string): boolean =>
      filters.some(([first]) => first === model || first === '+' || first === '#')
    const { read } = this.#ports
    const query = { channelId: this.#channelId, limit: PAGE_ITEMS }
    const ids = filters.map(([first, id = '+']) => (first === 'things' ? id : '+'))
    if (wants('things') && !ids.some((id) => id === '+' || id === '#')) {
      for (const id of new Set(ids)) await this.#retainThing(id)
    } else if (wants('things')) {
      await this.#pages(
        (before) => read.things({ ...query, ...before, state: 'active' }),
        (thing) => stateOfThing(thing, this.#by.wantsAttrs()),
      )
    }
    if (wants('events')) {
      await this.#pages(
        (before) => read.events({ ...query, ...before, state: 'open' }),
        (event) => [stateOfEvent(event)],
      )
    }
  }

  async #retainThing(id: string): Promise<void> {
    const thing = await this.#ports.read.thing(this.#channelId, id)
    if (this.#isGone || thing?.state !== 'active') return
    await this.#by.retained(stateOfThing(thing, this.#by.wantsAttrs()))
  }

  /** mqtt-following/3 */
  async #pages<Item>(
    read: (cursor: { readonly before?: number }) => Promise<Page<Item>>,
    newsOf: (item: Item) => readonly News[],
  ): Promise<void> {
    let cursor: { readonly before?: number } | undefined = {}
    while (cursor !== undefined && !this.#isGone) {
      const { items, next }: Page<Item> = await read(cursor)
      if (!this.#isGone) await this.#by.retained(items.flatMap(newsOf))
      cursor = next === undefined ? undefined : { before: next }
    }
  }

  /** False when too many reads wait. */
  #read(job: () => Promise<void>): boolean {
    const read = this.#ports.reads.run(async () => {
      if (this.#isGone) return
      try {
        await job()
      } catch (error) {
        this.#ports.logger.warn('the store did not answer a session', { ...reportDefect(error) })
        if (!this.#isGone) this.#by.unavailable()
      }
    })
    return read !== undefined
  }
}
