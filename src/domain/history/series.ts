// Numbers of Things over time: tiers of buckets, and series that are read of them.
// (Specification: Tiers and series)

import type { ChannelId } from '#domain/identity'

/** The tiers, finest first. */
export const TIERS = ['5m', '1h', '1d'] as const
export type Tier = (typeof TIERS)[number]

export const STEPS = ['raw', ...TIERS] as const
/** What a point of a series stands for: a reading, or a bucket of a tier. */
export type Step = (typeof STEPS)[number]

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

/** Milliseconds of a bucket; buckets begin at their multiples, in UTC. */
export const TIER_MS: Readonly<Record<Tier, number>> = {
  '5m': 5 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '1d': DAY_MS,
}

/** Milliseconds of a period, which is kept and removed as a whole; it begins at its multiples. */
export const PERIOD_MS: Readonly<Record<Tier, number>> = {
  '5m': DAY_MS,
  '1h': 7 * DAY_MS,
  '1d': 364 * DAY_MS,
}

/** Milliseconds for which each tier is kept; 0 for one that is not made. */
export type TierRetention = Readonly<Record<Tier, number>>

/** True when tiers are made at all. */
export const hasTiers = (kept: TierRetention): boolean => TIERS.some((tier) => kept[tier] > 0)

/** The beginning of the first period that is kept; every time is before it in a tier not made. */
export const firstKept = (tier: Tier, kept: TierRetention, nowMs: number): number => {
  if (kept[tier] === 0) return Infinity
  const period = PERIOD_MS[tier]
  return Math.floor((nowMs - kept[tier]) / period) * period
}

/** Numeric attrs of a Thing that have tiers. */
export const TIER_ATTRS_MAX = 64

/** The most points of a series: with the step `auto`, and with one that was asked for. */
export const AUTO_POINTS_MAX = 1_000
export const POINTS_MAX = 10_000
/** The most points of all attrs of a Thing together: some 3 MB of text. */
export const ALL_POINTS_MAX = 65_536

/** Buckets of one attr, in the order of their times, column by column. */
export interface BucketColumns {
  /** When each bucket begins. */
  readonly times: readonly number[]
  readonly min: readonly number[]
  readonly max: readonly number[]
  readonly mean: readonly number[]
  readonly last: readonly number[]
  readonly count: readonly number[]
}

/** Readings of one attr as they came, in the order of their times. */
export interface RawColumns {
  readonly times: readonly number[]
  readonly values: readonly (number | string | boolean)[]
}

export type Columns = BucketColumns | RawColumns

/** The series of one Thing by attr. */
export type ThingSeries = Readonly<Record<string, Columns>>

export interface SeriesQuery {
  readonly channelId: ChannelId
  readonly thingId: string
  /** Absent for every attr that has some. */
  readonly attrs?: readonly string[]
  readonly step: Step
  /** Unix milliseconds: from the bucket of `from` on, up to `to` without it. */
  readonly from: number
  readonly to: number
}

export interface SeriesFound {
  readonly attrs: ThingSeries
  /**
   * Where a bound of work ended the series: it is whole from this time of observation on, or up to
   * this one without it, but for late data.
   */
  readonly wholeFrom?: number
  readonly wholeTo?: number
  /** True where a bound of work left readings of these times out, for whatever reason. */
  readonly isPartial?: true
}

/** Reads series. */
export interface SeriesStore {
  /** Returns one Thing's series; without attrs when it has none, was deleted or is unknown. */
  series(query: SeriesQuery): Promise<SeriesFound>
}
