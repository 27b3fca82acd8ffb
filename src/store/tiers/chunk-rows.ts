// The rows of chunks: groups by tier and period, levels within a group, and when a chunk is due.
//
//   joined updates ──8──▶ 5m, 1h, 1d, level 1 ──8──▶ level 2 ──8──▶ … ──end of the period──▶ LAST
//
// A chunk is merged with the others of its level once eight lie over each other, and with all of
// its group once it is due. The first of a group whose period is over is LAST at once: what comes
// later, if anything does, is merged with it.

import { PERIOD_MS, TIERS, TIER_MS } from '#domain/history/series'
import type { Tier } from '#domain/history/series'
import type { TierChunkRow } from '#src/store/entities/tiers'
import type { Buckets } from './buckets.ts'
import { cellsOf } from './cells.ts'
import type { Cell } from './cells.ts'
import { writeChunk } from './chunk.ts'

/** Chunks of one level that lie over each other when they are merged. */
export const MERGED = 8
/** The level of what is left of a period. */
export const LAST_LEVEL = 99
/** From this level on a chunk stays long enough to be worth compressing. */
const COMPRESSED_LEVEL = 2
/** When a chunk of the last level is due. */
export const NEVER = Number.MAX_SAFE_INTEGER
const LATEST = NEVER - 1
/** Milliseconds behind its end in which most late data of a period comes. */
const LATE_MS = 3_600_000
/** Milliseconds for which what comes later is gathered before the whole is written again. */
const GATHERED_MS = 24 * LATE_MS

/** Chunks that are merged with each other: of joined updates, or of a tier and a period. */
export type Group = Pick<TierChunkRow, 'channel' | 'tier' | 'period'>

/** What the chunks of joined updates have in the place of tier and period. */
export const JOINED = { tier: 0, period: 0 } as const

/** True for a chunk that is compressed. */
export const isCompressed = ({ level }: Pick<TierChunkRow, 'level'>): boolean =>
  level >= COMPRESSED_LEVEL

/** The group of a tier for a time. */
export const groupAt = (channel: number, tier: Tier, at: number): Group => ({
  channel,
  tier: TIER_MS[tier],
  period: at - (at % PERIOD_MS[tier]),
})

export const tierOf = ({ tier }: Pick<Group, 'tier'>): Tier | undefined =>
  TIERS.find((name) => TIER_MS[name] === tier)

/** When most of what a group gets is there. */
function quietAt(group: Group): number {
  const tier = tierOf(group)
  return tier === undefined ? 0 : group.period + PERIOD_MS[tier] + LATE_MS
}

/** True once a group gets late data alone. */
export const isQuiet = (group: Group, nowMs: number): boolean => quietAt(group) <= nowMs

/** When a chunk of a group that is written now is due. */
const dueAt = (group: Group, nowMs: number): number =>
  Math.min(LATEST, isQuiet(group, nowMs) ? nowMs + GATHERED_MS : quietAt(group))

/** Where chunks are written. */
export interface Target extends Group, Pick<TierChunkRow, 'level' | 'run'> {
  readonly within: Cell
  readonly nowMs: number
}

/** The rows of buckets, one after the other. */
export function* rowsOf(
  buckets: Buckets,
  { within, nowMs, ...target }: Target,
): Generator<TierChunkRow> {
  const isLast = target.level === LAST_LEVEL
  for (const { cell, things } of cellsOf(buckets, within)) {
    yield {
      ...target,
      ...cell,
      dueAt: isLast ? NEVER : dueAt(target, nowMs),
      ...writeChunk(buckets, things, { isCompressed: isCompressed(target) }),
    }
  }
}
