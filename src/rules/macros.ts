// The macros of expressions, for items that are at hand.

import { Failure, SPENT } from './values.ts'
import type { Result, Value } from './values.ts'

/** Evaluates a part of a macro for an item. */
type Each = (item: Value) => Result

/** Runs over items; `map` has a condition before its result when there are two parts. */
type Macro = (items: readonly Value[], first: Each, second?: Each) => Result

const NOT_BOOL = new Failure('a condition must be true or false')

/** The failure of a condition that is neither true nor false. */
export const failureOf = (result: Result): Failure =>
  result instanceof Failure ? result : NOT_BOOL

/** `decides`: the result for an item that decides the whole. (evaluation/2) */
const deciding =
  (decides: boolean): Macro =>
  (items, holds) => {
    let failure: Failure | undefined
    for (const item of items) {
      const given = holds(item)
      if (given === decides || given === SPENT) return given
      if (typeof given !== 'boolean') failure ??= failureOf(given)
    }
    return failure ?? !decides
  }

const filter = (items: readonly Value[], holds: Each): readonly Value[] | Failure => {
  const kept: Value[] = []
  for (const item of items) {
    const given = holds(item)
    if (typeof given !== 'boolean') return failureOf(given)
    if (given) kept.push(item)
  }
  return kept
}

/** The macros by name. */
export const MACROS: Readonly<Record<string, Macro>> = {
  all: deciding(false),
  exists: deciding(true),
  exists_one: (items, holds) => {
    const kept = filter(items, holds)
    return kept instanceof Failure ? kept : kept.length === 1
  },
  filter,
  map: (items, first, second) => {
    const chosen = second === undefined ? items : filter(items, first)
    if (chosen instanceof Failure) return chosen
    const made: Value[] = []
    for (const item of chosen) {
      const result = (second ?? first)(item)
      if (result instanceof Failure) return result
      made.push(result)
    }
    return made
  },
}
