// The rules of a channel, ready to find those that watch a Thing.
//
// Invariants:
//   rule-set/1. Rules for single Things cost the others nothing: they are found by the Thing's id.

import type { StoredRule } from '#domain/rules/stored'
import type { Fields } from '#domain/submission'
import { readsOf } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { readRule } from './read-rule.ts'
import type { Rule, Scope } from './rule.ts'

/** A stored rule, compiled. */
export interface ActiveRule extends Pick<StoredRule, 'ruleId' | 'version' | 'since'> {
  readonly rule: Rule
  /** The attrs whose change a rule asks for. */
  readonly reads: Condition['reads']
  /** The periods of silence after which it is looked at, while nothing fires and while it does. */
  readonly silences: { readonly quiet: readonly number[]; readonly firing: readonly number[] }
}

export class RuleSet {
  readonly stored: ReadonlyMap<string, StoredRule>
  readonly #active = new Map<string, ActiveRule>()
  readonly #general: ActiveRule[] = []
  readonly #byThing = new Map<string, ActiveRule[]>()

  private constructor(stored: ReadonlyMap<string, StoredRule>) {
    this.stored = stored
    for (const one of [...stored.values()].toSorted(byId)) this.#add(one)
  }

  static of(rules: readonly StoredRule[]): RuleSet {
    return new RuleSet(new Map(rules.map((rule) => [rule.ruleId, rule])))
  }

  /** The same set with one rule put in, or taken out. */
  with(ruleId: string, rule: StoredRule | undefined): RuleSet {
    const stored = new Map(this.stored)
    if (rule === undefined) stored.delete(ruleId)
    else stored.set(ruleId, rule)
    return new RuleSet(stored)
  }

  get size(): number {
    return this.stored.size
  }

  /** An enabled rule. */
  active(ruleId: string): ActiveRule | undefined {
    return this.#active.get(ruleId)
  }

  /** The enabled rules that watch this Thing, in the order of their ids. (rule-set/1) */
  watching(id: string, fields: Fields): readonly ActiveRule[] {
    const general = this.#general.filter(({ rule }) => isWithin(rule.scope, id, fields))
    const own = this.#byThing.get(id)
    if (own === undefined) return general
    return general.length === 0 ? own : [...general, ...own].toSorted(byId)
  }

  #add(stored: StoredRule): void {
    const read = readRule(JSON.parse(stored.text))
    // A rule that this version cannot read watches nothing; its row stays for a later one.
    if (read.kind === 'wrong' || !read.rule.isEnabled) return
    const active = activeOf(stored, read.rule)
    const { scope } = read.rule
    this.#active.set(stored.ruleId, active)
    if (scope.kind !== 'ids') this.#general.push(active)
    else for (const id of scope.ids) listIn(this.#byThing, id).push(active)
  }
}

/** The form of a stored rule in which a watch takes it. */
export function activeOf({ ruleId, version, since }: StoredRule, rule: Rule): ActiveRule {
  const { when, clear, output } = rule
  const levels = output.kind === 'event' ? output.levels.map((level) => level.when) : []
  return {
    ruleId,
    version,
    since,
    rule,
    reads: readsOf([when, clear, ...levels]),
    silences: {
      quiet: when.silences,
      firing: [...clear.silences, ...levels.flatMap(({ silences }) => silences)],
    },
  }
}

/** True for a Thing that a rule watches. */
export function isWithin(scope: Scope, id: string, fields: Fields): boolean {
  switch (scope.kind) {
    case 'all':
      return true
    case 'ids':
      return scope.ids.has(id)
    case 'prefix':
      return id.startsWith(scope.prefix)
    case 'tag': {
      const { tags } = fields
      return Array.isArray(tags) && tags.includes(scope.tag)
    }
  }
}

const byId = (one: { ruleId: string }, other: { ruleId: string }): number =>
  one.ruleId < other.ruleId ? -1 : 1

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const found = lists.get(key)
  if (found !== undefined) return found
  const made: Item[] = []
  lists.set(key, made)
  return made
}
