// Groups of a query: counts, and numbers computed of attrs.
//
// Invariants:
//   groups/1. At most GROUPS_MAX groups are held: those whose keys were met first. What belongs to
//     others is left out, and the answer says so.

import type { Json } from '#domain/submission'
import {
  AGGREGATES_MAX,
  COMPUTED,
  GROUPS_MAX,
  GROUP_BY_MAX,
  PREFIX_MAX,
} from '#domain/things/query'
import type { ThingAggregate, ThingGroupKey } from '#domain/things/query'
import { attrPath, valueAt } from '#src/rules/conditions'
import type { Sent } from '#src/rules/reading'
import { tagsIn } from './facts.ts'
import type { ThingFacts } from './facts.ts'

/** Characters of a text that tell groups apart. */
const KEY_MAX = 256

type GroupKey = ThingGroupKey[number]
type Computed = ThingAggregate['of']

/** Returns the keys of a Thing; it counts once for each. */
export type GroupBy = (facts: ThingFacts) => readonly GroupKey[]

export interface Aggregate {
  readonly attr: string
  readonly of: Computed
  readonly valueIn: (facts: ThingFacts) => Json | undefined
}

export interface Grouping {
  readonly by: readonly GroupBy[]
  readonly aggregates: readonly Aggregate[]
}

/** Reads what makes groups; undefined without anything. Throws Wrong. */
export function readGrouping(by: Sent, aggregate: Sent): Grouping | undefined {
  if (by.isAbsent && aggregate.isAbsent) return undefined
  return {
    by: by.isAbsent ? [] : by.list(1, GROUP_BY_MAX).map(groupByOf),
    aggregates: aggregate.isAbsent ? [] : aggregate.list(1, AGGREGATES_MAX).map(aggregateOf),
  }
}

const NO_KEY: readonly GroupKey[] = [null]

function groupByOf(sent: Sent): GroupBy {
  const { value } = sent
  if (value === 'state') return ({ state }) => [state]
  if (value === 'tag') return ({ fields }) => orNoKey(tagsIn(fields).map(shortened))
  if (typeof value !== 'object' || value === null) {
    return sent.wrong('must be "state", "tag", {attr} or {prefix}')
  }
  const { attr, prefix } = sent.members(['attr', 'prefix'])
  if (attr.isAbsent === prefix.isAbsent) return sent.wrong('must have either attr or prefix')
  if (prefix.isAbsent) {
    const valueIn = valueAt(attrPath(attr))
    return ({ attrs }) => [scalarKey(valueIn(attrs))]
  }
  const length = prefix.number()
  if (!Number.isInteger(length) || length < 1 || length > PREFIX_MAX) {
    return prefix.wrong(`must be a whole number from 1 to ${PREFIX_MAX}`)
  }
  return ({ id }) => [id.slice(0, length)]
}

const shortened = (text: string): string => text.slice(0, KEY_MAX)
const orNoKey = (tags: readonly string[]): readonly GroupKey[] =>
  tags.length === 0 ? NO_KEY : [...new Set(tags)]

const scalarKey = (value: Json | undefined): GroupKey => {
  if (typeof value === 'string') return shortened(value)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

function aggregateOf(sent: Sent): Aggregate {
  const { attr, of } = sent.members(['attr', 'of'])
  const path = attrPath(attr)
  const valueIn = valueAt(path)
  return {
    attr: path.join('.'),
    of: of.oneOf(COMPUTED),
    valueIn: ({ attrs }) => valueIn(attrs),
  }
}

/** A group as the answer has it. */
export interface Group {
  readonly key: readonly GroupKey[]
  readonly count: number
  readonly aggregates: readonly {
    readonly attr: string
    readonly of: Computed
    /** Absent when no Thing of the group has a number there, or their sum is too large for one. */
    readonly value?: number
  }[]
}

interface Gathered {
  readonly key: readonly GroupKey[]
  readonly numbers: readonly Numbers[]
  count: number
}

interface Numbers {
  count: number
  sum: number
  min: number
  max: number
}

export class Groups {
  readonly #grouping: Grouping
  readonly #groups = new Map<string, Gathered>()
  #isComplete = true

  constructor(grouping: Grouping) {
    this.#grouping = grouping
  }

  /** False when something is left out. (groups/1) */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Counts a Thing in each of its groups, as far as its budget suffices. */
  add(facts: ThingFacts): void {
    const [first = NO_GROUP, second] = this.#grouping.by.map((keysOf) => keysOf(facts))
    const { by, aggregates } = this.#grouping
    const count = first.length * (second?.length ?? 1)
    if (!facts.work.take(count * (1 + aggregates.length))) {
      this.#isComplete = false
      return
    }
    for (const one of first) {
      if (second === undefined) this.#count(by.length === 0 ? [] : [one], facts)
      else for (const other of second) this.#count([one, other], facts)
    }
  }

  #count(key: readonly GroupKey[], facts: ThingFacts): void {
    const text = JSON.stringify(key)
    let group = this.#groups.get(text)
    if (group === undefined) {
      // groups/1
      if (this.#groups.size >= GROUPS_MAX) {
        this.#isComplete = false
        return
      }
      group = { key, count: 0, numbers: this.#grouping.aggregates.map(noNumbers) }
      this.#groups.set(text, group)
    }
    group.count += 1
    for (const [index, numbers] of group.numbers.entries()) {
      const value = this.#grouping.aggregates[index]?.valueIn(facts)
      if (typeof value === 'number') addNumber(numbers, value)
    }
  }

  /** The largest first; of the same size in the order of their keys. */
  result(): readonly Group[] {
    return [...this.#groups.entries()]
      .toSorted(([one, a], [other, b]) => b.count - a.count || (one < other ? -1 : 1))
      .map(([, { key, count, numbers }]) => ({
        key,
        count,
        aggregates: this.#grouping.aggregates.map(({ attr, of }, index) => ({
          attr,
          of,
          ...valueOf(of, numbers[index]),
        })),
      }))
  }
}

/** Without anything to group by, every Thing is in one group. */
const NO_GROUP: readonly GroupKey[] = [null]

const noNumbers = (): Numbers => ({ count: 0, sum: 0, min: Infinity, max: -Infinity })

function addNumber(numbers: Numbers, value: number): void {
  numbers.count += 1
  numbers.sum += value
  numbers.min = Math.min(numbers.min, value)
  numbers.max = Math.max(numbers.max, value)
}

function valueOf(of: Computed, numbers: Numbers | undefined): { readonly value?: number } {
  if (numbers === undefined || numbers.count === 0) return {}
  const value = of === 'mean' ? numbers.sum / numbers.count : numbers[of]
  // JSON has no number for a sum beyond what a double holds.
  return Number.isFinite(value) ? { value } : {}
}
