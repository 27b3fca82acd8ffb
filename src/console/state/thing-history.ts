// The values of one Thing over time, from the entries of its feed.

import { isRecord } from '#domain/record'
import type { FeedRecord } from '#src/client/bodies'

/** One value over time. */
export interface Course {
  readonly times: readonly number[]
  readonly values: readonly number[]
}

/**
 * The course of each attr that was a number, by the time that it was observed at. Late readings
 * stand where they belong.
 */
export function coursesOf(entries: readonly FeedRecord[]): ReadonlyMap<string, Course> {
  const points = new Map<string, (readonly [time: number, value: number])[]>()
  for (const { payload, accepted_at: acceptedAt } of entries) {
    if (!isRecord(payload) || !isRecord(payload['attrs'])) continue
    const { observed_at: observedAt, attrs } = payload
    const time = typeof observedAt === 'number' ? observedAt : acceptedAt
    for (const [name, value] of Object.entries(attrs)) {
      if (typeof value !== 'number') continue
      const known = points.get(name)
      if (known === undefined) points.set(name, [[time, value]])
      else known.push([time, value])
    }
  }
  const courses = [...points].map(([name, course]): readonly [string, Course] => {
    const sorted = course.toSorted(([a], [b]) => a - b)
    return [name, { times: sorted.map(([time]) => time), values: sorted.map(([, value]) => value) }]
  })
  return new Map(courses)
}

/** What entries tell of a Thing: the courses of its numbers, and the time that set each value. */
export interface Past {
  readonly courses: ReadonlyMap<string, Course>
  readonly setAt: ReadonlyMap<string, number>
}

export function pastOf(entries: readonly FeedRecord[]): Past {
  const setAt = new Map<string, number>()
  for (const { payload, accepted_at: acceptedAt } of entries) {
    if (!isRecord(payload) || !isRecord(payload['attrs'])) continue
    const { observed_at: observedAt } = payload
    const time = typeof observedAt === 'number' ? observedAt : acceptedAt
    for (const name in payload['attrs']) setAt.set(name, time)
  }
  return { courses: coursesOf(entries), setAt }
}
