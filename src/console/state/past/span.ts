// The span of time that charts show, as the address of the page has it: `from=-24h` ends at the
// present, `from` and `to` with times stand still.

import { UNIT_MS } from '#domain/runtime'
import type { Unit } from '#domain/runtime'

export interface Span {
  readonly lengthMs: number
  /** The end; undefined for the present. */
  readonly toMs?: number | undefined
}

const MIN_MS = UNIT_MS.m
const MAX_MS = 3_653 * UNIT_MS.d
/** The spans that a person chooses. */
export const SPANS = {
  hour: UNIT_MS.h,
  day: UNIT_MS.d,
  week: 7 * UNIT_MS.d,
  month: 30 * UNIT_MS.d,
  year: 365 * UNIT_MS.d,
} as const

export const DEFAULT_SPAN: Span = { lengthMs: SPANS.day }

export const endOf = ({ toMs }: Span, presentMs: number): number => toMs ?? presentMs
export const beginningOf = (span: Span, presentMs: number): number =>
  endOf(span, presentMs) - span.lengthMs

/** Reads a span of an address; the last day where it names none. */
export function spanIn({ from = '', to = '' }: Readonly<Record<string, string>>): Span {
  const [, count, unit] = /^-(\d+)([smhd])$/.exec(from) ?? []
  if (count !== undefined) {
    return bounded({ lengthMs: Number(count) * UNIT_MS[unit as Unit] })
  }
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  return fromMs < toMs ? bounded({ lengthMs: toMs - fromMs, toMs }) : DEFAULT_SPAN
}

/** The members of an address for a span. */
export function queryFor({ lengthMs, toMs }: Span): { readonly from: string; readonly to: string } {
  if (toMs !== undefined) return { from: textOf(toMs - lengthMs), to: textOf(toMs) }
  const [unit, ms] = Object.entries(UNIT_MS).find(([, size]) => lengthMs % size === 0) ?? [
    's',
    1_000,
  ]
  return { from: `-${Math.round(lengthMs / ms)}${unit}`, to: '' }
}

/** A time without its milliseconds. */
const textOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

const bounded = ({ lengthMs, toMs }: Span): Span => ({
  lengthMs: Math.round(Math.min(Math.max(lengthMs, MIN_MS), MAX_MS) / 1_000) * 1_000,
  toMs,
})

/** The span moved by a part of its length; one that reaches the present follows it. */
export function panned(span: Span, part: number, presentMs: number): Span {
  const toMs = Math.round(endOf(span, presentMs) + part * span.lengthMs)
  return { lengthMs: span.lengthMs, toMs: toMs >= presentMs ? undefined : toMs }
}

/** The span longer by a factor, around the place `at`: 0 is its beginning and 1 its end. */
export function zoomed(span: Span, factor: number, at: number, presentMs: number): Span {
  const longer = bounded({ ...span, lengthMs: span.lengthMs * factor })
  const kept = beginningOf(span, presentMs) + at * span.lengthMs
  const toMs = Math.round(kept + (1 - at) * longer.lengthMs)
  const isLive = toMs >= presentMs || (span.toMs === undefined && at === 1)
  return { lengthMs: longer.lengthMs, toMs: isLive ? undefined : toMs }
}
