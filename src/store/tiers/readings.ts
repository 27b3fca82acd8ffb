// The readings of an update: what tiers count, and what raw series give.

import type { FeedEntry } from '#domain/feed'
import { isRecord } from '#domain/record'

/** An item of a block, whether the feed has it or not. */
type Item = Pick<FeedEntry, 'action' | 'payload'>

/** What a Thing said of its attrs at a time. */
export interface Reading {
  readonly at: number
  readonly attrs: Readonly<Record<string, unknown>>
}

/**
 * The reading in an item of a block; undefined when it has none. `set_at` is the time of late data,
 * beside which `observed_at` stays that of the Thing. The one place that knows what items say.
 */
export function readingOf({ payload }: Item): Reading | undefined {
  if (!payload.includes('"attrs":')) return undefined
  const parsed: unknown = JSON.parse(payload)
  if (!isRecord(parsed)) return undefined
  const { set_at: setAt, observed_at: observedAt, attrs } = parsed
  const at = setAt ?? observedAt
  return typeof at === 'number' && at >= 0 && isRecord(attrs) ? { at, attrs } : undefined
}

/** True when an item ends a Thing: what was read of it before is gone. */
export const endsThing = ({ action }: Item): boolean => action === 'delete'
