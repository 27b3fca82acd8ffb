// A channel's feed: every effective submission, numbered without holes. (decisions.md 9)

import type { ChannelId, DeviceId, EntityId, OperationId } from './identity.ts'
import { recordFrom } from './record.ts'
import type { Action, Model } from './submission.ts'

/** One entry of a channel's feed, as kept and as delivered. */
export interface FeedEntry {
  readonly channelId: ChannelId
  readonly seq: number
  readonly opId: OperationId
  readonly model: Model
  /** `sync` stands for the whole current state of a Thing, in place of the updates before it. */
  readonly action: Action
  readonly entityId: EntityId
  /** Things and Events only. */
  readonly state?: string
  readonly rev?: number
  readonly acceptedAt: number
  /**
   * The effective patch or the message as JSON text in wire names: written once, spliced
   * everywhere.
   */
  readonly payload: string
}

/**
 * Values of late data that changed nothing at present: kept for the history of a Thing, delivered
 * to nobody. Its payload has its own `observed_at` and `attrs`.
 */
export type LateReading = Omit<FeedEntry, 'seq' | 'state' | 'rev'>

/** The new entries of one channel after one commit, in seq order without holes. */
export interface Announcement {
  readonly channelId: ChannelId
  readonly entries: readonly FeedEntry[]
  /**
   * Set when later entries were too large for the bus: the head of the channel's feed, from which
   * the listener reads the rest.
   */
  readonly headSeq?: number
}

/** A device's position in one channel. */
export interface Position {
  readonly channelId: ChannelId
  readonly channelName: string
  /** The last seq of the channel's feed. */
  readonly headSeq: number
  /** The head when the device subscribed: it gets no older Messages and Events. */
  readonly sinceSeq: number
  /**
   * The seq up to which the device has acknowledged everything; 0 before its first acknowledgement.
   */
  readonly ackedSeq: number
}

/** One page of what a device has yet to see of a channel, read in one snapshot of the database. */
export interface CatchUpPage {
  /** In seq order: Messages and Events entry by entry, each changed Thing once as `sync`. */
  readonly entries: readonly FeedEntry[]
  /** The head at the time of reading. */
  readonly headSeq: number
  /** True when nothing up to headSeq is left out behind the last entry. */
  readonly complete: boolean
  /**
   * The entries that retention has removed between the position and this page. With `restart`,
   * tombstones are among them: the device forgets the channel's Things and gets every live one
   * again.
   */
  readonly gap?: { readonly from: number; readonly to: number; readonly restart: boolean }
  /** The removals by retention at the time of reading; absent without any. */
  readonly removedTo?: RemovedTo
}

/** The last seqs of a channel that retention has removed; 0 for none. */
export interface RemovedTo {
  /** The last Message or Event. */
  readonly entries: number
  /** The last deletion of a Thing; retention keeps these longer. */
  readonly tombstones: number
}

export interface CatchUpRequest {
  readonly channelId: ChannelId
  /** The seq up to which the device knows everything. */
  readonly afterSeq: number
  readonly sinceSeq: number
  /**
   * The seq up to which the device gets no deletions. By default `sinceSeq`; less for a device that
   * knows Things from before it subscribed.
   */
  readonly deletedSince?: number
  /**
   * `removedTo` of the page before, when this continues one catch-up: no gap is given for removals
   * up to there, and no restart. Without it a restart of more than one page would begin again with
   * each page.
   */
  readonly removedTo?: RemovedTo
  /** 1 to 500 entries. */
  readonly limit: number
}

/** Acknowledgement of everything up to a seq, by one device in one channel. */
export interface Acknowledgement {
  readonly deviceId: DeviceId
  readonly channelId: ChannelId
  readonly seq: number
}

/**
 * The opaque name of one delivery. It contains the place of its entry, so the gateway keeps nothing
 * for it.
 */
export const deliveryIdOf = (channelId: ChannelId, seq: number): string => `${channelId}-${seq}`

/** Entries that a device has not acknowledged; `hasMore` when more follow. */
export interface Pulled {
  readonly items: readonly FeedEntry[]
  readonly hasMore: boolean
}

/** The Unix milliseconds after which a Message goes to nobody; undefined for no such time. */
export function ttlOf({ model, payload }: FeedEntry): number | undefined {
  if (model !== 'message' || !payload.includes('"ttl"')) return undefined
  const { ttl } = recordFrom(payload)
  return typeof ttl === 'number' ? ttl : undefined
}
