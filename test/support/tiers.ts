// Joins, merges and reads what a store has of tiers.

import { TIER_MS } from '#domain/history/series'
import type { SeriesQuery, ThingSeries } from '#domain/history/series'
import type { Store } from '#src/store/store'
import { rounds } from '#test/support/until'

export const HOUR = TIER_MS['1h']
export const DAY = TIER_MS['1d']
/** Some day, at midnight. */
export const START = 20_000 * DAY
export const EVER = { '5m': 100_000 * DAY, '1h': 100_000 * DAY, '1d': 100_000 * DAY }
/** A time at which every block is old, and every period over. */
export const LATE_MS = 50_000 * DAY
/** Then what was written at that time is due, and a day later what was written of that. */
export const DUE_MS = [LATE_MS + 2 * DAY, LATE_MS + 4 * DAY]

/** Merges what may be merged by some times, one after the other. */
export async function mergeAll(
  { merging }: Pick<Store, 'merging'>,
  times: readonly number[] = DUE_MS,
): Promise<void> {
  for (const nowMs of times) {
    for (const goOn = rounds(); goOn();) if ((await merging.merge(nowMs, EVER)) === 0) break
  }
}

/** Joins every block. */
export async function joinOld({ joining }: Pick<Store, 'joining'>): Promise<void> {
  for (const goOn = rounds(); goOn();) if ((await joining.join(LATE_MS)) === 0) break
}

/** The series of a Thing, of all times unless the query says some. */
export const seriesOf = async (
  store: Pick<Store, 'series'>,
  query: Pick<SeriesQuery, 'channelId' | 'thingId' | 'step'> & Partial<SeriesQuery>,
): Promise<ThingSeries> =>
  (await store.series.series({ from: 0, to: 50_000 * DAY, ...query })).attrs
