// What late data says of attrs without changing the present.
//
// Invariants:
//   late/1. Each value of an update of a Thing that is not deleted is in one item of the feed or in
//     one late reading, under the time of its reading. A reading that the Thing shows already is
//     in none: it is a repeat.

import type { Thing } from '#domain/entity'
import type { FeedEntry, LateReading } from '#domain/feed'
import { sameJson, timeOf } from '#domain/patch'
import { bare } from '#domain/record'
import type { Json, ThingSubmission } from '#domain/submission'

/** The reading of late data beside what its entry delivers; undefined when nothing is left. */
export function lateReadingOf(
  submission: ThingSubmission,
  { attrs: kept, at: newest }: Thing,
  entry: FeedEntry | undefined,
): LateReading | undefined {
  const { at, attrs } = submission.patch
  const values = bare<Json>()
  for (const name in attrs) {
    const value = attrs[name] ?? null
    const known = kept.values[name]
    if (value === null || known === undefined) continue
    const time = timeOf(kept, name, newest)
    const isRepeat = time === at && sameJson(known, value)
    if (time > at || (entry === undefined && !isRepeat)) values[name] = value // late/1
  }
  if (Object.keys(values).length === 0) return undefined
  const { channelId, opId, model, action, entityId, acceptedAt } = submission
  const payload = JSON.stringify({ observed_at: at, attrs: values })
  return { channelId, opId, model, action, entityId, acceptedAt, payload }
}
