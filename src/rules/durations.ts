// Durations: a whole number and a unit. (Specification: Rules and time)

import { UNIT_MS } from '#domain/runtime'
import type { Unit } from '#domain/runtime'

const FORM = /^([1-9][0-9]{0,6})([smhd])$/
const DURATION_MAX_MS = 30 * 86_400_000

/** The rule that a duration must keep, as a sentence's end. */
export const DURATION_RULE = 'must be a whole number of s, m, h or d, from 1s to 30d'

const DELAY_MS_MIN = 10_000

/** What the delay of a Message may be. */
export const DELAY_FORM = 'a whole number of s, m, h or d, from 10s to 30d'

/** Returns the milliseconds of a duration such as `10m`; undefined when it is none. */
export function durationMs(sent: unknown): number | undefined {
  const [, count, unit] = (typeof sent === 'string' && FORM.exec(sent)) || []
  if (count === undefined || unit === undefined) return undefined
  const ms = Number(count) * UNIT_MS[unit as Unit]
  return ms <= DURATION_MAX_MS ? ms : undefined
}

/** Returns the milliseconds of the delay of a Message; undefined when it is not of DELAY_FORM. */
export function delayMs(sent: unknown): number | undefined {
  const ms = durationMs(sent)
  return ms !== undefined && ms >= DELAY_MS_MIN ? ms : undefined
}
