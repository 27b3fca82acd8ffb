// The rules of a channel, ready to find those that watch a Thing.
//
// Invariants:
//   rule-set/1. Rules for single Things cost the others nothing: they are found by the Thing's id.
//   rule-set/2. A rule that is put or deleted costs as much as itself, not as all of its channel.
//   rule-set/3. The rules of a channel are bounded in bytes as they take them compiled: a rule of
//     16 KiB may take a hundred times as much.

import type { RuleId } from '#domain/identity'
import { FEW_RULES } from '#domain/rules/stored'
import type { StoredRule } from '#domain/rules/stored'
import type { Fields } from '#domain/submission'
import { readRule } from './read-rule.ts'
import type { Rule, Scope } from './rule.ts'

// Compiles the texts of stored rules.

/** A rule as its text declares it. */
export interface CompiledRule {
  readonly text: string
  /** Absent when this version cannot read it: then it watches nothing, and its row stays. */
  readonly rule: Rule | undefined
  /** An estimate of the bytes that it takes. */
  readonly bytes: number
}

/** Compiles the text of a stored rule. */
export type Compile = (text: string) => CompiledRule

/** Bytes of a rule that watches nothing, beside its text. */
const UNREAD_BYTES = 256

/** Compiles the text of a stored rule anew. */
export function compileText(text: string): CompiledRule {
  const read = readRule(JSON.parse(text))
  const rule = read.kind === 'rule' ? read.rule : undefined
  return { text, rule, bytes: text.length + (rule?.bytes ?? UNREAD_BYTES) }
}

/** A stored rule that watches. */
export interface ActiveRule extends Pick<StoredRule, 'ruleId' | 'version' | 'since'> {
  readonly rule: Rule
}

/** A rule of a channel, and what its text says. */
export interface KeptRule {
  readonly stored: StoredRule
  readonly compiled: CompiledRule
  /** Absent for a rule that watches nothing. */
  readonly active: ActiveRule | undefined
}

/** The active rules by what they watch. */
interface Index {
  /** Those that ask each Thing, in the order of their ids. */
  general: readonly ActiveRule[]
  readonly byThing: Map<string, readonly ActiveRule[]>
}

/** The rules of a channel. */
const RULES_PER_CHANNEL_MAX = 1_000
/** Bytes that they take together. (rule-set/3) */
const RULES_BYTES_MAX = 16 * 2 ** 20

// What objects take in the heap of V8, rounded up.
const KEPT_BYTES = 1_024
const NAMED_BYTES = 160

export class RuleSet {
  /** An estimate of the bytes that it takes, without the compiled rules. */
  readonly bytes: number
  readonly #kept: ReadonlyMap<string, KeptRule>
  readonly #compile: Compile
  #index: Index | undefined
  #reach: number | undefined

  private constructor(kept: ReadonlyMap<string, KeptRule>, compile: Compile, bytes: number) {
    this.#kept = kept
    this.#compile = compile
    this.bytes = bytes
  }

  static of(rules: readonly StoredRule[], compile: Compile = compileText): RuleSet {
    const kept = rules.map((stored) => keptOf(stored, compile))
    const byId = new Map(kept.map((one) => [one.stored.ruleId, one]))
    return new RuleSet(
      byId,
      compile,
      kept.reduce((sum, one) => sum + bytesOf(one), 0),
    )
  }

  /** Compiles a rule that may be put in. */
  compiled(stored: StoredRule): KeptRule {
    return keptOf(stored, this.#compile)
  }

  /**
   * The same set with one rule put in, or taken out. It takes the index of this set over, which
   * makes its own again when it is asked. (rule-set/2)
   */
  with(ruleId: RuleId, rule: KeptRule | undefined): RuleSet {
    const kept = new Map(this.#kept)
    const before = kept.get(ruleId)
    if (rule === undefined) kept.delete(ruleId)
    else kept.set(ruleId, rule)
    const next = new RuleSet(kept, this.#compile, this.bytes + bytesOf(rule) - bytesOf(before))
    next.#index = this.#index
    this.#index = undefined
    if (next.#index !== undefined) {
      if (before?.active !== undefined) remove(next.#index, before.active)
      if (rule?.active !== undefined) add(next.#index, rule.active)
    }
    return next
  }

  get size(): number {
    return this.#kept.size
  }

  /** Rules that may watch one Thing at most; all of them while they are few. */
  get reach(): number {
    return this.size <= FEW_RULES ? this.size : (this.#reach ??= this.#reached())
  }

  /** True when a rule may be put in, or in the place of the one with its id. (rule-set/3) */
  hasRoomFor(rule: KeptRule): boolean {
    let bytes = weightOf(rule)
    for (const one of this.#kept.values()) {
      if (one.stored.ruleId !== rule.stored.ruleId) bytes += weightOf(one)
    }
    const isNew = !this.#kept.has(rule.stored.ruleId)
    return bytes <= RULES_BYTES_MAX && !(isNew && this.size >= RULES_PER_CHANNEL_MAX)
  }

  /** The rules in no order. */
  get all(): Iterable<KeptRule> {
    return this.#kept.values()
  }

  get(ruleId: string): KeptRule | undefined {
    return this.#kept.get(ruleId)
  }

  /** An enabled rule. */
  active(ruleId: string): ActiveRule | undefined {
    return this.#kept.get(ruleId)?.active
  }

  /** The enabled rules that watch this Thing, in the order of their ids. (rule-set/1) */
  watching(id: string, fields: Fields): readonly ActiveRule[] {
    const { general, byThing } = (this.#index ??= this.#indexed())
    const isAsked = ({ rule }: ActiveRule): boolean => isWithin(rule.scope, id, fields)
    const asked = general.every(isAsked) ? general : general.filter(isAsked)
    const own = byThing.get(id)
    if (own === undefined) return asked
    return asked.length === 0 ? own : [...asked, ...own].toSorted(byId)
  }

  #reached(): number {
    const { general, byThing } = (this.#index ??= this.#indexed())
    let named = 0
    for (const { length } of byThing.values()) named = Math.max(named, length)
    return general.length + named
  }

  #indexed(): Index {
    const general: ActiveRule[] = []
    const byThing = new Map<string, ActiveRule[]>()
    const active = [...this.#kept.values()].flatMap((one) => one.active ?? []).toSorted(byId)
    for (const one of active) {
      const { scope } = one.rule
      if (scope.kind !== 'ids') general.push(one)
      else for (const id of scope.ids) listIn(byThing, id).push(one)
    }
    return { general, byThing }
  }
}

function keptOf(stored: StoredRule, compile: Compile): KeptRule {
  const compiled = compile(stored.text)
  const { ruleId, version, since } = stored
  const { text, rule } = compiled
  // Equal rules of many channels share their text, too.
  return {
    stored: { ...stored, text },
    compiled,
    active: rule?.isEnabled === true ? { ruleId, version, since, rule } : undefined,
  }
}

function bytesOf(kept: KeptRule | undefined): number {
  if (kept === undefined) return 0
  const scope = kept.active?.rule.scope
  return KEPT_BYTES + (scope?.kind === 'ids' ? scope.ids.size * NAMED_BYTES : 0)
}

const weightOf = (kept: KeptRule): number => bytesOf(kept) + kept.compiled.bytes

function add(index: Index, active: ActiveRule): void {
  const { scope } = active.rule
  if (scope.kind !== 'ids') index.general = inserted(index.general, active)
  else {
    for (const id of scope.ids) index.byThing.set(id, inserted(index.byThing.get(id), active))
  }
}

function inserted(others: readonly ActiveRule[] = [], active: ActiveRule): readonly ActiveRule[] {
  const at = others.findIndex((one) => byId(active, one) < 0)
  return at < 0 ? [...others, active] : others.toSpliced(at, 0, active)
}

function remove(index: Index, active: ActiveRule): void {
  const { scope } = active.rule
  const isOther = (one: ActiveRule): boolean => one !== active
  if (scope.kind !== 'ids') index.general = index.general.filter(isOther)
  else {
    for (const id of scope.ids) {
      const others = index.byThing.get(id)?.filter(isOther) ?? []
      if (others.length === 0) index.byThing.delete(id)
      else index.byThing.set(id, others)
    }
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
