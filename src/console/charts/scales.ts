// Where values and times stand in a chart, and which of them its axes name.

import { UNIT_MS } from '#domain/runtime'
import type { Limit } from '#console/state/past/limits.ts'
import type { Line } from '#console/state/past/thing-history.ts'

export interface Range {
  readonly low: number
  readonly high: number
}

const MARGIN = 0.06
/** A limit that is farther from the values than so many times their range presses them flat. */
const NEAR = 1.5

/**
 * The values that a chart has room for: those of its lines in a span, and the limits that are not
 * farther from them than `near` times their range. They are `leastSpan` apart at least.
 */
export function rangeOfLines(
  lines: readonly Line[],
  {
    fromMs,
    toMs,
    leastSpan = 0,
  }: { readonly fromMs: number; readonly toMs: number; readonly leastSpan?: number },
  limits: readonly Limit[],
  near = NEAR,
): Range {
  let [least, most] = [Infinity, -Infinity]
  for (const { times, low, high } of lines) {
    for (const [at, time] of times.entries()) {
      if (time < fromMs || time > toMs) continue
      least = Math.min(least, low[at] ?? Infinity)
      most = Math.max(most, high[at] ?? -Infinity)
    }
  }
  if (least > most) return { low: 0, high: 1 }
  const size = Math.max(most - least, leastSpan) || Math.abs(most) * 0.1 || 1
  const shown = limits
    .map(({ value }) => value)
    .filter((value) => value > least - size * near && value < most + size * near)
  const [low, high] = [Math.min(least, ...shown), Math.max(most, ...shown)]
  const margin = Math.max((high - low || size) * MARGIN, (leastSpan - high + low) / 2)
  return { low: low - margin, high: high + margin }
}

/** Round values within a range, about so many. */
export function roundValues({ low, high }: Range, wanted: number): readonly number[] {
  const rough = (high - low) / wanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find((times) => times * power >= rough) ?? 10) * power
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step) - first + 1
  // Not added up: 0.1 + 0.2 is no round value.
  return Array.from({ length: count }, (_, at) => Number(((first + at) * step).toPrecision(12)))
}

const WITHIN_A_DAY = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((n) => n * UNIT_MS.m)
const DAYS = [1, 2, 4, 7, 14]
const MONTHS = [1, 2, 3, 6, 12]
const MONTH_MS = 30.4 * UNIT_MS.d

/** Round times within a span by the clock of this place, at most so many and two more. */
export function roundTimes(fromMs: number, toMs: number, wanted: number): readonly number[] {
  const rough = (toMs - fromMs) / wanted
  const first = new Date(fromMs)
  first.setHours(0, 0, 0, 0)
  const within = WITHIN_A_DAY.find((step) => step >= rough)
  const days = DAYS.find((count) => count * UNIT_MS.d >= rough)
  let next = (at: number): number => new Date(first).setHours(0, 0, 0, at * (within ?? 0))
  if (within === undefined && days !== undefined) {
    next = (at) => new Date(first).setDate(first.getDate() + at * days)
  } else if (within === undefined) {
    first.setMonth(0, 1)
    const months = MONTHS.find((count) => count * MONTH_MS >= rough) ?? 12
    next = (at) => new Date(first).setMonth(at * months)
  }
  const times: number[] = []
  for (let at = 0, time = next(0); time <= toMs; at += 1, time = next(at)) {
    if (time >= fromMs && time !== times.at(-1)) times.push(time)
  }
  return times
}

type Place = (value: number) => number

/** The path of a line, which begins anew after each gap, and that of points between two gaps. */
export function pathsOf({ times, values }: Line, x: Place, y: Place) {
  let [path, dots] = ['', '']
  const isGap = (at: number): boolean => (values[at] ?? null) === null
  for (const [at, value] of values.entries()) {
    if (value === null) continue
    const point = `${x(times[at] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`
    if (!isGap(at - 1)) path += `L${point}`
    else if (isGap(at + 1)) dots += `M${point}h0`
    else path += `M${point}`
  }
  return { path, dots }
}

/** The outline of the band from the least to the greatest values; '' for a line of readings. */
export function bandOf({ times, values, low, high }: Line, x: Place, y: Place): string {
  let [path, above, below] = ['', '', '']
  const close = (): void => {
    if (above !== '') path += `M${above.slice(1)}${below}Z`
    above = below = ''
  }
  for (const [at, value] of values.entries()) {
    const [least, most] = [low[at] ?? null, high[at] ?? null]
    if (value === null || least === null || most === null) close()
    else if (least !== most || above !== '') {
      const time = x(times[at] ?? 0).toFixed(1)
      above += `L${time} ${y(most).toFixed(1)}`
      below = `L${time} ${y(least).toFixed(1)}${below}`
    }
  }
  close()
  return path
}
