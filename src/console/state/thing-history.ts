// The values of one Thing over time, from the entries of its feed.

import { isRecord, recordOf } from '#domain/record'
import type { Json } from '#domain/submission'
import type { FeedRecord } from '#src/client/bodies'

/** One value over time; null where it was removed. */
export interface Course {
  /** Unix milliseconds. */
  readonly times: readonly number[]
  readonly values: readonly Json[]
}

/**
 * The course of each attr, by the time that its values were observed at. Late readings stand where
 * they belong.
 */
export function coursesOf(entries: readonly FeedRecord[]): ReadonlyMap<string, Course> {
  const points = new Map<string, (readonly [time: number, value: Json])[]>()
  for (const { time, attrs } of observedIn(entries)) {
    for (const [name, value] of Object.entries(attrs)) {
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

/** The attrs of each entry that has some, and the time that they were observed at. */
const observedIn = (entries: readonly FeedRecord[]) =>
  entries.flatMap(({ payload, accepted_at: acceptedAt }) => {
    const { observed_at: observedAt, attrs } = recordOf(payload) ?? {}
    if (!isRecord(attrs)) return []
    const time = typeof observedAt === 'number' ? observedAt : acceptedAt
    return [{ time, attrs: attrs as Readonly<Record<string, Json>> }]
  })

/** The view draws a course as a line, as steps between false and true, or as a list of changes. */
export type CourseKind = 'line' | 'steps' | 'changes'

/** What its last value is decides: a sensor that fails may say so in words. */
export function kindOf({ values }: Course): CourseKind {
  const last = values.findLast((value) => value !== null)
  if (typeof last === 'number') return 'line'
  return typeof last === 'boolean' ? 'steps' : 'changes'
}

/** The points of a line or of steps: true is 1, and what cannot be drawn is a gap. */
export const pointsOf = ({ values }: Course): readonly (number | null)[] =>
  values.map((value) => {
    if (typeof value === 'boolean') return Number(value)
    return typeof value === 'number' ? value : null
  })

export interface Change {
  readonly time: number
  readonly value: Json
}

/** The values that differ from the one before, the newest first. */
export function changesOf({ times, values }: Course): readonly Change[] {
  const texts = values.map((value) => JSON.stringify(value))
  return values
    .map((value, at) => ({ time: times[at] ?? 0, value }))
    .filter((_, at) => texts[at] !== texts[at - 1])
    .toReversed()
}

/** What entries tell of a Thing: the courses of its values, and the time that set each value. */
export interface Past {
  readonly courses: ReadonlyMap<string, Course>
  readonly setAt: ReadonlyMap<string, number>
}

export function pastOf(entries: readonly FeedRecord[]): Past {
  const setAt = new Map<string, number>()
  for (const { time, attrs } of observedIn(entries)) {
    for (const name in attrs) setAt.set(name, time)
  }
  return { courses: coursesOf(entries), setAt }
}
