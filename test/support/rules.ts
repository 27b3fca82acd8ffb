// Rules for tests: read, active, and watched over a list of readings and times.

import { hash } from 'node:crypto'

import type { RuleId } from '#domain/identity'
import type { Fields } from '#domain/submission'
import type { Facts } from '#src/rules/conditions'
import { readRule } from '#src/rules/read-rule'
import type { Rule } from '#src/rules/rule'
import type { ActiveRule } from '#src/rules/rule-set'
import { onReading, onTime } from '#src/rules/watch'
import type { Watch } from '#domain/rules/stored'
import type { Action } from '#src/rules/watch'
import { READING_STEPS_MAX, Work } from '#src/rules/work'

/** The rule of the specification's example, with other members in place. */
export const ruleOf = (members: object = {}): object => ({
  things: 'all',
  when: { attr: 't', above: 30 },
  event: { title: '{thing.title}: {t}' },
  ...members,
})

/** The id of a rule. */
export const ruleId = (text: string): RuleId => text as RuleId

/** Ids of what rules open, as the gateway makes them. */
export const derived = (text: string): string => hash('sha256', text, 'hex').slice(0, 32)

/** Reads a rule that is right. */
export function compiled(members: object = {}): Rule {
  const read = readRule(ruleOf(members))
  if (read.kind === 'wrong') throw new Error(`${read.path}: ${read.rule}`)
  return read.rule
}

/** The sentence about a rule that is wrong. */
export function faultOf(sent: unknown): string {
  const read = readRule(sent)
  return read.kind === 'wrong' ? `${read.path}: ${read.rule}` : 'no fault'
}

export const active = (members: object = {}): ActiveRule => ({
  ruleId: ruleId('r'),
  version: 'v',
  since: 0,
  rule: compiled(members),
})

export const facts = (attrs: Fields, more: Partial<Facts> = {}): Facts => ({
  id: 'a',
  title: 'A',
  attrs,
  heardAt: 0,
  nowMs: 0,
  work: new Work(READING_STEPS_MAX),
  ...more,
})

const S = 1_000

/** A reading of `t` at a second, accepted `late` seconds after it; or the lane's time. */
export type Moment =
  | { readonly s: number; readonly t: number | string | undefined; readonly late?: number }
  | { readonly tick: number }

/** Plays moments in the order of the log; gives the actions with their seconds. */
export function play(members: object, moments: readonly Moment[]): readonly string[] {
  const rule = active(members)
  let watch: Watch | undefined
  let attrs: Fields = {}
  let at = -Infinity
  let heardAt = 0
  const said: string[] = []
  const say = (action: Action): void => {
    const more = 'severity' in action ? ` ${action.severity}` : ''
    const since = 'since' in action ? ` since ${action.since / S}` : ''
    said.push(`${action.kind} ${action.at / S}${more}${since}`)
  }
  for (const moment of moments) {
    if ('tick' in moment) {
      const step = onTime(rule, watch, facts(attrs, { heardAt, nowMs: moment.tick * S }))
      if (watch !== undefined) watch = step.watch
      step.actions.forEach(say)
      continue
    }
    const nowMs = (moment.s + (moment.late ?? 0)) * S
    const before = facts(attrs, { heardAt, nowMs })
    const isEvidence = moment.s >= at
    if (isEvidence && moment.t !== undefined) attrs = { t: moment.t }
    at = Math.max(at, moment.s)
    heardAt = nowMs
    const after = facts(attrs, { heardAt, nowMs })
    const step = onReading(rule, watch, { at: moment.s * S, before, after, isEvidence })
    watch = step.watch
    step.actions.forEach(say)
  }
  return said
}

export const reading = (s: number, t: number | string | undefined, late = 0): Moment => ({
  s,
  t,
  late,
})
export const tick = (s: number): Moment => ({ tick: s })
