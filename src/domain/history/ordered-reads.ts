// Reads of a channel in an order: its feed by seqs, and its open Events by ids, which each find
// once however many change meanwhile. (Things: things/scan.ts)

import type { Event } from '#domain/entity'
import type { ChannelId } from '#domain/identity'
import type { Model } from '#domain/submission'

/** Entries of a channel's feed, in the order of their seqs. */
export interface HistoryQuery {
  readonly channelId: ChannelId
  readonly afterSeq?: number
  readonly sinceMs?: number
  /** Only entries of these; of every model when absent. */
  readonly models?: readonly Model[]
  readonly entityId?: string
  /** Only Things whose id begins with it, and Events that are filed under one of those. */
  readonly thingPrefix?: string
  readonly limit: number
}

export interface OrderedQuery {
  readonly channelId: ChannelId
  /** Only those behind this id; absent to begin with the first. */
  readonly afterId?: string | undefined
  /** Only Events that are filed under Things whose id begins with it. */
  readonly thingPrefix?: string | undefined
  readonly limit: number
}

/** Fewer items than asked for may still have a next page. */
export interface OrderedPage<Item> {
  readonly items: readonly Item[]
  /** The id behind which the next page begins; absent on the last one. */
  readonly nextId?: string
}

export interface OrderedReads {
  /** Open Events, in the order of their ids. */
  openEventsInOrder(query: OrderedQuery): Promise<OrderedPage<Event>>
}
