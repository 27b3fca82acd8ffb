// The state of one rule for one Thing: a watch. Pure; a reading or a deadline gives the next state
// and the actions that go with it.
//
//            when holds                 `for` has passed
//   quiet ───────────────▶ pending ─────────────────────▶ firing ◀── clear no longer holds ─┐
//     ▲  ◀── no longer ────┘                                │  clear holds                  │
//     └────────────── `clear_for` has passed ── clearing ◀──┴───────────────────────────────┘
//
// Invariants:
//   R2. A reading that leaves the present values as they are neither fires nor clears.
//   R3. `for` begins with the first reading that holds, by its observed_at, or by the lane's clock
//       where the device's is ahead, and ends by the lane's: with a tick, or with a reading that
//       was observed behind the end, whichever stands first in the log.
//   R4. A deadline for silence is not moved by an update: when it is due, it is compared with the
//       Thing and moved.
//   rule-watch/1. A deadline counts at the time at which it was due, however late its tick is.
//   rule-watch/2. A reading that leaves a rule quiet is told by its condition alone, and what
//     `staysQuiet` passes over would have changed nothing.

import type { Watch } from '#domain/rules/stored'
import type { Condition, Facts } from './conditions.ts'
import type { Rule } from './rule.ts'
import type { ActiveRule } from './rule-set.ts'

/** What a step asks for, at a time that may lie before the lane's. */
export type Action =
  | {
      readonly kind: 'open'
      readonly at: number
      readonly since: number
      readonly severity: string
    }
  | {
      readonly kind: 'update'
      readonly at: number
      readonly since: number
      readonly severity: string
      /** Writes the texts anew, beside the severity. */
      readonly isWhole: boolean
    }
  | { readonly kind: 'send'; readonly at: number; readonly since: number }
  | { readonly kind: 'close'; readonly at: number }

export interface Step {
  /** Absent when nothing is to be kept; the given one when nothing has changed. */
  readonly watch: Watch | undefined
  readonly actions: readonly Action[]
  /** Why a condition failed on the values. (R6) */
  readonly failure?: string
}

/** One submission that changed a Thing. */
export interface Reading {
  /** observed_at */
  readonly at: number
  /** The Thing before it, at the lane's time; absent when there was none. */
  readonly before: Facts | undefined
  readonly after: Facts
  /** False for late data that changed no value which the rule reads. (R2) */
  readonly isEvidence: boolean
}

/** Deadlines of one watch that one tick works off; later ones wait for the next. */
const DEADLINES_AT_ONCE = 16

/**
 * True when a reading leaves a rule as quiet as it was: `onReading` would return the same watch and
 * no action. It is so for nearly every reading, and costs an evaluation. (rule-watch/2)
 */
export function staysQuiet(
  { rule, version }: ActiveRule,
  kept: Watch | undefined,
  after: Facts,
): boolean {
  const isAsBefore =
    kept === undefined
      ? rule.silences.quiet.length === 0
      : kept.phase === 'quiet' &&
        kept.version === version &&
        kept.sentAt === undefined &&
        kept.due !== undefined &&
        kept.due > after.nowMs
  return isAsBefore && rule.when.verdict(after) === false
}

/** Returns the watch after a reading. */
export function onReading(active: ActiveRule, kept: Watch | undefined, reading: Reading): Step {
  const stepping = new Stepping(active, kept)
  const { at, before, after, isEvidence } = reading
  if (before !== undefined && stepping.isTimed) {
    stepping.advance({ ...before, nowMs: Math.min(before.nowMs, at) }) // R3
  }
  if (isEvidence || stepping.isSilenceOver) stepping.look(after, at) // R2
  else stepping.plan(after)
  return stepping.end(after)
}

/** Returns the watch at a time of its lane: works off what is due by then. */
export function onTime(active: ActiveRule, kept: Watch | undefined, facts: Facts): Step {
  const stepping = new Stepping(active, kept)
  if (kept === undefined) stepping.look(facts, facts.nowMs)
  else stepping.advance(facts)
  return stepping.end(facts)
}

class Stepping {
  readonly #rule: Rule
  readonly #kept: Watch | undefined
  readonly #actions: Action[] = []
  #watch: Watch
  #failure: string | undefined

  constructor(active: ActiveRule, kept: Watch | undefined) {
    this.#rule = active.rule
    this.#kept = kept
    this.#watch = kept ?? { version: active.version, phase: 'quiet', since: 0 }
  }

  /** True while the end of `for` or `clear_for` is awaited. */
  get isTimed(): boolean {
    return this.#watch.phase === 'pending' || this.#watch.phase === 'clearing'
  }

  /** True when any accepted update may end what fires: it was silence, or may have been. */
  get isSilenceOver(): boolean {
    const { phase } = this.#watch
    const isFiring = phase === 'firing' || phase === 'clearing'
    return isFiring && this.#rule.clear.silences.length > 0
  }

  /** rule-watch/1: works off what is due at the lane's time, in the order of the times. */
  advance(facts: Facts): void {
    for (let count = 0; count < DEADLINES_AT_ONCE; count += 1) {
      const { due } = this.#watch
      if (due === undefined || due > facts.nowMs) return
      this.#change({ due: undefined })
      this.look({ ...facts, nowMs: due }, due)
    }
  }

  /** Compares the watch with the Thing; a change counts at `at`. */
  look(facts: Facts, at: number): void {
    const { phase } = this.#watch
    switch (phase) {
      case 'quiet':
        if (this.#holds(this.#rule.when, facts)) this.#begin(facts, at)
        break
      case 'pending':
        if (!this.#holds(this.#rule.when, facts)) this.#change({ phase: 'quiet' })
        else if (Math.min(facts.nowMs, at) >= this.#end) this.#fire(facts, at) // R3
        break
      case 'firing':
      case 'clearing':
        if (this.#holds(this.#rule.clear, facts)) this.#clear(facts, at)
        else this.#goOn(facts, at)
    }
    if (phase !== this.#watch.phase) this.#change({ due: undefined })
    this.plan(facts)
  }

  /** R4: a deadline that is still to come stays; otherwise the next one is found. */
  plan(facts: Facts): void {
    const { due } = this.#watch
    if (due !== undefined && due > facts.nowMs) return
    const next = this.#nextDue(facts)
    if (next !== due) this.#change({ due: next })
  }

  end({ nowMs }: Facts): Step {
    const { phase, due, sentAt } = this.#watch
    const { output } = this.#rule
    const isBound =
      output.kind === 'message' && nowMs - (sentAt ?? -Infinity) < output.atMostEveryMs
    const isKept = phase !== 'quiet' || due !== undefined || isBound
    const watch = isKept ? this.#unlessSame(this.#watch) : undefined
    const failure = this.#failure === undefined ? {} : { failure: this.#failure }
    return { watch, actions: this.#actions, ...failure }
  }

  #unlessSame(watch: Watch): Watch {
    const kept = this.#kept
    if (kept === undefined) return watch
    return FIELDS.every((field) => kept[field] === watch[field]) ? kept : watch
  }

  /** The end of `for`. */
  get #end(): number {
    return this.#watch.since + this.#rule.forMs
  }

  #begin(facts: Facts, at: number): void {
    const isTimed = this.#rule.forMs > 0
    this.#change({ since: isTimed ? Math.min(facts.nowMs, at) : at }) // R3
    if (isTimed) this.#change({ phase: 'pending' })
    else this.#fire(facts, at)
  }

  #fire(facts: Facts, at: number): void {
    const { since, sentAt = -Infinity } = this.#watch
    const { output } = this.#rule
    const { nowMs } = facts
    this.#change({ phase: 'firing' })
    if (output.kind === 'event') {
      const severity = this.#severity(facts)
      this.#actions.push({ kind: 'open', at, since, severity })
      this.#change({ severity, updatedAt: nowMs })
    } else if (nowMs - sentAt >= output.atMostEveryMs) {
      this.#actions.push({ kind: 'send', at, since })
      this.#change({ sentAt: nowMs })
    }
  }

  #clear({ nowMs }: Facts, at: number): void {
    const { clearSince, eventId } = this.#watch
    const { clearForMs } = this.#rule
    const begun = clearSince ?? Math.min(nowMs, at) // R3
    if (clearForMs > 0 && (clearSince === undefined || Math.min(nowMs, at) < begun + clearForMs)) {
      this.#change({ phase: 'clearing', clearSince: begun })
      return
    }
    // A rule that sends Messages may have opened an Event when it was of another form. (R5)
    const mayHaveEvent = this.#rule.output.kind === 'event' || eventId !== undefined
    if (mayHaveEvent) this.#actions.push({ kind: 'close', at })
    const over = { clearSince: undefined, eventId: undefined, severity: undefined }
    this.#change({ phase: 'quiet', ...over, updatedAt: undefined })
  }

  #goOn(facts: Facts, at: number): void {
    this.#change({ phase: 'firing', clearSince: undefined })
    const { output } = this.#rule
    if (output.kind !== 'event') return
    const { updatedAt = 0, since } = this.#watch
    const { updateEveryMs } = output
    const severity = this.#severity(facts)
    const isWhole = updateEveryMs > 0 && facts.nowMs - updatedAt >= updateEveryMs
    if (!isWhole && severity === this.#watch.severity) return
    this.#actions.push({ kind: 'update', at, since, severity, isWhole })
    this.#change({ severity, ...(isWhole && { updatedAt: facts.nowMs }) })
  }

  #severity(facts: Facts): string {
    const { output } = this.#rule
    if (output.kind !== 'event') return output.severity
    const level = output.levels.findLast(({ when }) => this.#holds(when, facts))
    return level?.severity ?? output.severity
  }

  #holds({ verdict }: Condition, facts: Facts): boolean {
    const given = verdict(facts)
    if (typeof given === 'string') this.#failure = given
    return given === true
  }

  #nextDue(facts: Facts): number | undefined {
    const { phase, clearSince = 0 } = this.#watch
    const { quiet, firing } = this.#rule.silences
    switch (phase) {
      case 'quiet':
        return nextSilence(quiet, facts)
      case 'pending':
        return earlier(this.#end, nextSilence(quiet, facts))
      case 'firing':
        return nextSilence(firing, facts)
      case 'clearing':
        return earlier(clearSince + this.#rule.clearForMs, nextSilence(firing, facts))
    }
  }

  #change(change: Partial<Watch>): void {
    this.#watch = { ...this.#watch, ...change }
  }
}

const FIELDS = [
  'version',
  'phase',
  'since',
  'clearSince',
  'due',
  'eventId',
  'severity',
  'updatedAt',
  'sentAt',
] as const

const earlier = (one: number, other: number | undefined): number => Math.min(one, other ?? Infinity)

/** The next time at which one of these periods of silence ends, without another update. */
function nextSilence(periods: readonly number[], { heardAt, nowMs }: Facts): number | undefined {
  let next: number | undefined
  for (const period of periods) {
    const end = heardAt + period
    if (end > nowMs && (next === undefined || end < next)) next = end
  }
  return next
}
