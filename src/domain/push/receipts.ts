// Who got an entry: derived from the positions of devices and the jobs of pushes, never written.
// (Specification: Receipts)

import type { Subscriber } from '#domain/administration'
import type { FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import { isFiltered } from './preferences.ts'
import type { Preferences, Pushable } from './preferences.ts'
import type { ProviderName } from './providers.ts'

export const RECEIPT_STATES = [
  'acknowledged',
  'pushed',
  'waiting',
  'failed',
  'filtered',
  'later',
] as const
export type ReceiptState = (typeof RECEIPT_STATES)[number]

/** A subscribed device, and how far the entry is on its way to it. */
export interface Receipt extends Pick<
  Subscriber,
  'deviceId' | 'label' | 'platform' | 'channelType'
> {
  readonly state: ReceiptState
}

export interface EntryReceipts {
  readonly entry: FeedEntry
  /** The one that subscribed first comes first. */
  readonly subscribers: readonly Receipt[]
}

/** The entry of an operation, or the newest one of a Message, Event or Thing. */
export interface ReceiptQuery {
  readonly channelId: ChannelId
  readonly entityId: string
  readonly operation?: Pick<Operation, 'opId' | 'acceptedAt'>
  /** The providers that are set up: no other one took a push. */
  readonly providers: readonly ProviderName[]
}

export interface ReceiptStore {
  /** Who got an entry; undefined when there is no such entry. */
  receipts(query: ReceiptQuery): Promise<EntryReceipts | undefined>
}

/** What is known of a subscription and its push. */
export interface Reached {
  /** True when the device subscribed after the entry. */
  readonly isLater: boolean
  readonly isAcknowledged: boolean
  /** The job of its push; undefined when there is none, or none any more. */
  readonly job: 'open' | 'failed' | 'pushed' | undefined
  readonly preferences: Preferences
  /** True for a device that a provider reaches. */
  readonly hasProvider: boolean
}

/**
 * The state of an entry for one subscription. A job is removed once a provider took its push, so a
 * device that a provider reaches, and that has no job, counts as pushed.
 */
export function receiptState(reached: Reached, pushable: Pushable): ReceiptState {
  const { isLater, isAcknowledged, job, preferences, hasProvider } = reached
  if (isLater) return 'later'
  if (isAcknowledged) return 'acknowledged'
  if (job === 'failed' || job === 'pushed') return job
  if (!hasProvider) return 'waiting'
  if (isFiltered(preferences, pushable)) return 'filtered'
  return job === 'open' ? 'waiting' : 'pushed'
}
