// What an Event says about its reminders: checked alike in a submission and in a rule.
// (Specification: People in the loop)

import type { EscalationStep } from '#domain/rules/attention'
import { isRecord } from '#domain/record'
import { SEVERITIES } from '#domain/submission'
import { durationMs } from './durations.ts'

export const STEPS_MAX = 5
export const LEVEL_MAX = 9
/** The bounds of times at which people are asked again, in milliseconds. */
const MINUTE = 60_000
const DAY = 86_400_000
const SNOOZE_MAX = 7 * DAY

export const REMIND_RULE = 'must be a duration from 1m to 1d'
export const SNOOZE_RULE = 'must be a duration from 1m to 7d'
export const STEPS_RULE =
  `must be up to ${STEPS_MAX} steps {after, level, severity}, whose after (a duration) and level ` +
  `(1 to ${LEVEL_MAX}) rise; severity is ${SEVERITIES.join(', ')} or absent`

/** Milliseconds between reminders; undefined for what is no such time. */
export const remindEveryMs = (sent: unknown): number | undefined => within(sent, DAY)

/** Milliseconds of a snooze; undefined for what is none. */
export const snoozeMs = (sent: unknown): number | undefined => within(sent, SNOOZE_MAX)

function within(sent: unknown, max: number): number | undefined {
  const ms = durationMs(sent) ?? 0
  return ms >= MINUTE && ms <= max ? ms : undefined
}

/** Steps to escalate, with no other members; undefined for what are none. */
export function stepsFrom(sent: unknown): readonly EscalationStep[] | undefined {
  if (!Array.isArray(sent) || sent.length > STEPS_MAX) return undefined
  const steps: EscalationStep[] = []
  let last = { ms: 0, level: 0 }
  for (const one of sent as readonly unknown[]) {
    const step = stepFrom(one)
    const ms = durationMs(step?.after) ?? 0
    if (step === undefined || ms <= last.ms || step.level <= last.level) return undefined
    last = { ms, level: step.level }
    steps.push(step)
  }
  return steps
}

function stepFrom(sent: unknown): EscalationStep | undefined {
  if (!isRecord(sent)) return undefined
  const { after, level, severity, ...others } = sent
  const known = SEVERITIES.find((one) => one === severity)
  const isLevel = Number.isInteger(level) && Number(level) >= 1 && Number(level) <= LEVEL_MAX
  if (typeof after !== 'string' || !isLevel || Object.keys(others).length > 0) return undefined
  if (severity !== undefined && known === undefined) return undefined
  return { after, level: Number(level), ...(known !== undefined && { severity: known }) }
}
