// One value of a Thing over time: as it is read, as live updates extend it, and as it is drawn.

import type { Json } from '#domain/submission'

/** Readings of a value, or steps of its figures, in the order of their times. */
export interface Course {
  /** Unix milliseconds: of each reading, or of the beginning of each step. */
  readonly times: readonly number[]
  /** The readings, null where the value was removed; the mean of each step. */
  readonly values: readonly Json[]
  /** Absent for readings. */
  readonly steps?: Steps | undefined
}

export interface Steps {
  readonly ms: number
  readonly low: readonly number[]
  readonly high: readonly number[]
  readonly counts: readonly number[]
}

export const NO_COURSE: Course = { times: [], values: [] }

/** The index of the first time after one. */
function placeOf(times: readonly number[], atMs: number): number {
  let at = times.length
  while (at > 0 && (times[at - 1] ?? 0) > atMs) at -= 1
  return at
}

/** The course with one more reading, at the time it was observed at, however late it comes. */
export function extended(course: Course, atMs: number, value: Json): Course {
  if (course.steps !== undefined) return inStep(course, course.steps, atMs, value)
  const at = placeOf(course.times, atMs)
  const isKnown = course.times[at - 1] === atMs
  const from = isKnown ? at - 1 : at
  const values = course.values.toSpliced(from, at - from, value)
  return { times: course.times.toSpliced(from, at - from, atMs), values }
}

function inStep(course: Course, steps: Steps, atMs: number, value: Json): Course {
  if (typeof value !== 'number') return course
  const { times, values } = course
  const beginning = Math.floor(atMs / steps.ms) * steps.ms
  const at = placeOf(times, beginning)
  const isKnown = times[at - 1] === beginning
  const place = isKnown ? at - 1 : at
  const removed = isKnown ? 1 : 0
  const [count, mean] = isKnown ? [steps.counts[place] ?? 0, Number(values[place])] : [0, 0]
  const [low, high] = isKnown
    ? [steps.low[place] ?? value, steps.high[place] ?? value]
    : [value, value]
  return {
    times: times.toSpliced(place, removed, beginning),
    values: values.toSpliced(place, removed, (mean * count + value) / (count + 1)),
    steps: {
      ms: steps.ms,
      low: steps.low.toSpliced(place, removed, Math.min(low, value)),
      high: steps.high.toSpliced(place, removed, Math.max(high, value)),
      counts: steps.counts.toSpliced(place, removed, count + 1),
    },
  }
}

/** The course without what is before a time. */
export function since(course: Course, fromMs: number): Course {
  const at = course.times.findIndex((time) => time >= fromMs)
  if (at <= 0) return course
  const { steps } = course
  const times = course.times.slice(at)
  const values = course.values.slice(at)
  if (steps === undefined) return { times, values }
  return {
    times,
    values,
    steps: {
      ms: steps.ms,
      low: steps.low.slice(at),
      high: steps.high.slice(at),
      counts: steps.counts.slice(at),
    },
  }
}

/** So many times the usual interval without a reading is silence. */
const SILENT_INTERVALS = 4
const SILENT_STEPS = 2.5

/** The interval beyond which a line has a gap: the usual one, nine of ten are within, tells it. */
export function silenceMs({ times, steps }: Course): number {
  const intervals = times.slice(1).map((time, at) => time - (times[at] ?? 0))
  const sorted = intervals.toSorted((a, b) => a - b)
  const usual = sorted[Math.floor((sorted.length - 1) * 0.9)] ?? 0
  return Math.max(usual * SILENT_INTERVALS, (steps?.ms ?? 0) * SILENT_STEPS)
}

/** Points of a line; null is a gap. */
export interface Line {
  readonly times: readonly number[]
  readonly values: readonly (number | null)[]
  /** Equal to `values` where there are readings. */
  readonly low: readonly (number | null)[]
  readonly high: readonly (number | null)[]
}

/**
 * The line of a course, with gaps at silence and at what is no number. A step stands at its middle,
 * the present one not after `untilMs`.
 */
export function lineOf(course: Course, untilMs: number): Line {
  const { times, values, steps } = course
  const silence = silenceMs(course)
  const half = (steps?.ms ?? 0) / 2
  const line = {
    times: [] as number[],
    values: [] as (number | null)[],
    low: [] as (number | null)[],
    high: [] as (number | null)[],
  }
  const add = (time: number, value: number | null, low = value, high = value): void => {
    line.times.push(time)
    line.values.push(value)
    line.low.push(low)
    line.high.push(high)
  }
  for (const [at, beginning] of times.entries()) {
    const time = Math.max(Math.min(beginning + half, untilMs), beginning)
    const before = line.times.at(-1) ?? time
    if (time - before > silence && silence > 0) add((time + before) / 2, null)
    const value = values[at]
    if (typeof value !== 'number') add(time, null)
    else add(time, value, steps?.low[at], steps?.high[at])
  }
  return line
}

/** The value of a line at the time nearest to one; undefined in a gap. */
export function nearest({ times, values, low, high }: Line, atMs: number) {
  let at = placeOf(times, atMs)
  if (at > 0 && atMs - (times[at - 1] ?? 0) < (times[at] ?? Infinity) - atMs) at -= 1
  const [time, value] = [times[at], values[at]]
  if (time === undefined || value === undefined || value === null) return undefined
  return { time, value, low: low[at] ?? value, high: high[at] ?? value }
}

/** A value for as long as it held. */
export interface Run {
  readonly fromMs: number
  readonly toMs: number
  readonly value: Json
}

/** The runs of equal values; the last one holds until `untilMs`. A removed value has none. */
export function runsOf({ times, values }: Course, untilMs: number): readonly Run[] {
  const runs: Run[] = []
  for (const [at, fromMs] of times.entries()) {
    const value = values[at] ?? null
    const toMs = Math.max(times[at + 1] ?? untilMs, fromMs)
    const before = runs.at(-1)
    const isSame = before?.toMs === fromMs && plainEqual(before.value, value)
    if (before !== undefined && isSame) runs[runs.length - 1] = { ...before, toMs }
    else if (value !== null) runs.push({ fromMs, toMs, value })
  }
  return runs
}

const plainEqual = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The lowest, the highest and the difference of the last to the first value; of numbers alone. */
export function rangeOf({ values, steps }: Course) {
  const numbers = values.filter((value) => typeof value === 'number')
  const [first, last] = [numbers[0], numbers.at(-1)]
  if (first === undefined || last === undefined || numbers.length < 2) return undefined
  const low = Math.min(...(steps?.low ?? numbers))
  return { low, high: Math.max(...(steps?.high ?? numbers)), change: last - first }
}
