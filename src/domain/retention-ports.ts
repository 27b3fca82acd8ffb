// The ports that remove rows past their retention.

import type { Tier, TierRetention } from '#domain/history/series'
import type { ChannelId } from './identity.ts'

/** Removes rows past their retention, one small step a call. */
export interface RetentionStore {
  /**
   * Returns how many rows it removed, never more than `maxRows`. Some rows go in pairs, a claim
   * with its operation for instance: with less than 2 these stay.
   */
  step(before: RetentionLimits, maxRows: number): Promise<number>
  /** Removes devices and deletes channels that nobody uses, at most `maxRows` of each. */
  expire(limits: IdleLimits, maxRows: number): Promise<Expired>
}

/** Joins the blocks of updates that turns wrote into fewer ones. */
export interface JoiningStore {
  /**
   * Joins the oldest blocks, once there are enough of them or they are old enough; only the latter
   * while turns need all the time there is. Returns how many updates they have; 0 when there is
   * nothing to do.
   */
  join(nowMs: number, isBusy?: boolean): Promise<number>
}

/** Merges what joining brings to the tiers of numbers. */
export interface MergingStore {
  /**
   * Makes larger chunks of small ones, once there are enough of them over each other or they are
   * due. Returns how many it merged, those of one place; 0 when there is nothing to do.
   */
  merge(nowMs: number, kept: TierRetention): Promise<number>
}

/**
 * Unix milliseconds; devices and channels that were last in use before them are removed.
 * (store/idle.ts)
 */
export interface IdleLimits {
  /** Devices that never subscribed, by their registration. */
  readonly neverSubscribed: number
  /** Devices without a subscription, by their last session or pull. */
  readonly devices: number
  readonly channels: number
  readonly nowMs: number
}

export interface Expired {
  /** The number of removed devices. */
  readonly devices: number
  /** The deleted channels: actors that remember them must be told. */
  readonly channels: readonly ChannelId[]
}

/** Unix milliseconds; older rows are removed. */
export interface RetentionLimits {
  readonly operations: number
  readonly messagesAndEvents: number
  readonly thingUpdates: number
  /** Periods of tiers, by their beginning; each is removed as a whole. */
  readonly tiers: Readonly<Record<Tier, number>>
  /** Deleted Things and closed Events, by the accepted_at of their end. */
  readonly tombstones: number
  /** Deleted channels with all of their rows, by the time of their deletion. */
  readonly deletedChannels: number
  /** Records of the authorization server, by their end: nothing finds them after it. */
  readonly authorization: number
  /** Bind sessions, by their end. */
  readonly bindSessions: number
}

// ---- the side of ingress and sessions -----------------------------------------------------------
