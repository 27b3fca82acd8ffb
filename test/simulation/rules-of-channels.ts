// The rules of channels: what is put, and what changes it.

import { isFault } from '#domain/fault'
import type { Ask } from './asking.ts'
import { errorOf } from './asking.ts'
import { oneOf } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Observations, RuleChange } from './observations.ts'
import type { VirtualTime } from './virtual-time.ts'

/**
 * The rule of a channel: `high` compares a level, `lasting` waits for it to stay high, `changing`
 * is a high one that somebody changes, and `silent` waits for updates.
 */
export const RULE_KINDS = ['high', 'lasting', 'changing', 'silent'] as const
export type RuleKind = (typeof RULE_KINDS)[number]

/** The level above which rules fire at first, and another one. */
export const LEVELS = [49, 79] as const
/** Milliseconds for which a level stays high until `lasting` fires. */
export const LASTING_MS = 3_000

/** The level that each update of a Thing has beside its key. */
export const levelOf = (token: number): number => token % 100

const above = (level: number): object => ({ attr: 'level', above: level })
const RULES: Readonly<Record<Exclude<RuleKind, 'changing'>, object>> = {
  high: { things: 'all', when: above(LEVELS[0]), event: { title: 'it is high' } },
  lasting: {
    things: 'all',
    when: above(LEVELS[0]),
    for: `${LASTING_MS / 1_000}s`,
    event: { title: 'it stays high' },
  },
  silent: { things: 'all', when: { silent: '5s' }, event: { title: 'it is silent' } },
}

/** Its Events bear the number of the change. */
const changedRule = (level: number, number: number, isEnabled: boolean): object => ({
  things: 'all',
  when: above(level),
  enabled: isEnabled,
  event: { title: `it is high, ${number}` },
})

/** The number of the change in the title of an Event; undefined for another Event. */
export function numberOfChange(title: string): number | undefined {
  const match = /^it is high, (\d+)$/.exec(title)
  return match === null ? undefined : Number(match[1])
}

interface Ruled {
  readonly id: string
  readonly password: string
}

interface RulingParts {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly observations: Observations
  readonly ask: Ask
}

/** Whoever puts, changes and deletes rules. */
export class Ruling {
  readonly #parts: RulingParts

  constructor(parts: RulingParts) {
    this.#parts = parts
  }

  /** Puts the rule of a new channel; false when that fails. */
  async begin(channel: Ruled, kind: RuleKind): Promise<boolean> {
    if (kind !== 'changing') {
      const told = await this.#submit(channel, kind, RULES[kind])
      return told !== 'none' && 'value' in told
    }
    this.#parts.observations.ruleChanges.set(channel.id, [])
    return this.#change(channel, { above: LEVELS[0], isDeleted: false, isEnabled: true })
  }

  /** Changes the rule of a channel, unless nobody knows whether the last change is applied. */
  async change(channel: Ruled): Promise<void> {
    const { chance, observations } = this.#parts
    const last = observations.ruleChanges.get(channel.id)?.at(-1)
    if (last === undefined || last.knownMs === Infinity) return
    const { above: level = LEVELS[0], isDeleted } = last
    const what = oneOf(chance, ['level', 'title', 'disable', 'delete'] as const)
    if (what === 'delete' && !isDeleted) {
      return void (await this.#change(channel, { isDeleted: true, isEnabled: false }))
    }
    const other = level === LEVELS[0] ? LEVELS[1] : LEVELS[0]
    const next = what === 'level' ? other : level
    await this.#change(channel, { above: next, isDeleted: false, isEnabled: what !== 'disable' })
  }

  async #change(
    channel: Ruled,
    form: { readonly above?: number; readonly isDeleted: boolean; readonly isEnabled: boolean },
  ): Promise<boolean> {
    const { time, observations } = this.#parts
    const changes = observations.ruleChanges.get(channel.id) ?? []
    const { isDeleted, isEnabled, above: level = LEVELS[0] } = form
    const change: RuleChange = {
      above: isEnabled ? level : undefined,
      isDeleted,
      sentMs: time.now,
      knownMs: Infinity,
      opId: undefined,
    }
    const rule = isDeleted ? undefined : changedRule(level, changes.length, isEnabled)
    changes.push(change)
    const told = await this.#submit(channel, 'changing', rule)
    observations.note(`rule of ${channel.id} ${changes.length - 1} ${errorOf(told)}`)
    if (told !== 'none' && 'value' in told) {
      change.opId = told.value
      change.knownMs = time.now
      return true
    }
    const error = errorOf(told)
    const isUnknown = ['none', 'submission_outcome_unknown', 'threw'].includes(error)
    if (!isUnknown) changes.pop()
    return false
  }

  #submit({ id, password }: Ruled, kind: RuleKind, rule: object | undefined) {
    const fields = { channel_id: id, password, rule_id: kind }
    return this.#parts.ask(async ({ acceptance: { submissions } }, caller) => {
      const told = await (rule === undefined
        ? submissions.submit({ model: 'rule', action: 'delete' }, fields, caller)
        : submissions.submit({ model: 'rule', action: 'put' }, { ...fields, rule }, caller))
      return isFault(told) ? told : String(told.opId)
    })
  }
}
