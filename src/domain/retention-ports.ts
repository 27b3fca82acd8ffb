// What removes rows whose time is over.

import type { ChannelId } from './identity.ts'

/** Removes what has outlived its retention, one small step a call. */
export interface RetentionStore {
  /**
   * Gives how many rows it removed, never more than `maxRows`. Some rows go in pairs, a claim with
   * its operation for instance: with less than 2 these stay.
   */
  step(before: RetentionLimits, maxRows: number): Promise<number>
  /** Removes devices and deletes channels that nobody uses, at most `maxRows` of each. */
  expire(limits: IdleLimits, maxRows: number): Promise<Expired>
}

/** Unix milliseconds; what was last in use before them goes. (store/idle.ts) */
export interface IdleLimits {
  /** Devices that never subscribed, by their registration. */
  readonly neverSubscribed: number
  /** Devices without a subscription, by their last session or pull. */
  readonly devices: number
  readonly channels: number
  readonly nowMs: number
}

export interface Expired {
  /** How many were removed. */
  readonly devices: number
  /** Those that were deleted: whoever remembers them must be told. */
  readonly channels: readonly ChannelId[]
}

/** Unix milliseconds; what is older goes. */
export interface RetentionLimits {
  readonly operations: number
  readonly messagesAndEvents: number
  readonly thingUpdates: number
  /** Deleted Things and closed Events, by the accepted_at of their end. */
  readonly tombstones: number
  /** Deleted channels with all that is left of them, by the time of their deletion. */
  readonly deletedChannels: number
  /** What the authorization server keeps, by its end. */
  readonly authorization: number
}

// ---- the side of ingress and sessions -----------------------------------------------------------
