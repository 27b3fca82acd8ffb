// When an Event that a rule opens would be reminded of and escalated, had nobody acknowledged it.

import { REMINDERS_MAX } from '#domain/rules/attention'
import type { EscalationStep } from '#domain/rules/attention'
import type { Fields } from '#domain/submission'
import { durationMs } from './durations.ts'
import { stepsFrom } from './escalation.ts'

/** An Event that nobody acknowledges. Times are Unix milliseconds. */
export class Unanswered {
  readonly remindedAt: number[] = []
  readonly escalated: { readonly level: number; readonly at: number }[] = []
  readonly #everyMs: number
  readonly #steps: readonly EscalationStep[]
  readonly #firstAt: number
  #lastAt: number

  /** `fields` are those of the rule's Event, whose first entry is of this time. */
  constructor({ remind_every: every, escalate }: Fields, firstAt: number) {
    this.#everyMs = durationMs(every) ?? Infinity
    this.#steps = stepsFrom(escalate) ?? []
    this.#firstAt = this.#lastAt = firstAt
  }

  /** Goes on to a time. */
  pass(upTo: number): void {
    for (;;) {
      const step = this.#steps[this.escalated.length]
      const afterMs = durationMs(step?.after) ?? Infinity
      const everyMs = this.remindedAt.length < REMINDERS_MAX ? this.#everyMs : Infinity
      const at = Math.min(this.#firstAt + afterMs, this.#lastAt + everyMs)
      if (at > upTo || at === Infinity) return
      const isEscalated = step !== undefined && at === this.#firstAt + afterMs
      if (isEscalated) this.escalated.push({ level: step.level, at })
      else this.remindedAt.push(at)
      this.#lastAt = at
    }
  }

  /** Takes an entry of the Event, from which the next reminder counts. */
  entry(at: number): void {
    this.pass(at)
    this.#lastAt = at
  }
}
