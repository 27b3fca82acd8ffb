// What a query of Things asks for beside its `where`, as it is sent.

import type { AttrPath } from '#domain/rules/condition'

export const GROUPS_MAX = 1_000
export const GROUP_BY_MAX = 2
export const AGGREGATES_MAX = 8
/** Characters of a thing_id, by which groups may be told apart. */
export const PREFIX_MAX = 64

/** What is computed of numbers. */
export const COMPUTED = ['min', 'max', 'mean', 'sum'] as const

/** The order of a query's Things: those without the attr come last. */
export interface ThingOrder {
  readonly by: 'changed' | 'thing_id' | 'title' | { readonly attr: AttrPath }
  readonly descending?: boolean
}

/** What tells groups apart; prefix is a number of characters of the thing_id. */
export type ThingGroupBy =
  | 'state'
  | 'tag'
  | { readonly attr: AttrPath }
  | { readonly prefix: number }

/** A number that is computed of an attr in each group. */
export interface ThingAggregate {
  readonly attr: AttrPath
  readonly of: (typeof COMPUTED)[number]
}

/** What the Things of a group have in common, one value for each member of group_by. */
export type ThingGroupKey = readonly (string | number | boolean | null)[]
