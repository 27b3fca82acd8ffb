// Times before which retention removes rows.

import type { RetentionLimits } from '#domain/retention-ports'

/** The same time for every kind of row. */
export const limitsOf = (beforeMs: number): RetentionLimits => ({
  operations: beforeMs,
  messagesAndEvents: beforeMs,
  thingUpdates: beforeMs,
  tiers: { '5m': beforeMs, '1h': beforeMs, '1d': beforeMs },
  tombstones: beforeMs,
  deletedChannels: beforeMs,
  authorization: beforeMs,
  bindSessions: beforeMs,
})

export const NEVER = limitsOf(0)
export const EVERYTHING = limitsOf(Number.MAX_SAFE_INTEGER)
