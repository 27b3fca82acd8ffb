// Checks caller-made JSON of any form, as in attrs: finds parts that cannot be kept.

import type { Fault } from '#domain/fault'
import type { Json } from '#domain/submission'

import { isSafeText, UNSAFE_RULE } from '#domain/record'
import { invalid } from '#src/schemas/values'

/** The deepest nesting of objects and lists, the outermost counted. */
export const TREE_DEPTH_MAX = 32

/**
 * The fault of a value that cannot be kept: too deep nesting, a number that JSON cannot write
 * (1e999 is read as Infinity) or that would change, or a text or key without a UTF-8 form.
 * Undefined when it can be kept.
 */
export function refusalOfTree(field: string, tree: Json): Fault | undefined {
  const rule = brokenRule(tree, 1)
  return rule === undefined ? undefined : invalid(field, rule)
}

function brokenRule(value: Json, depth: number): string | undefined {
  if (typeof value === 'string') return isSafeText(value) ? undefined : UNSAFE_RULE
  if (typeof value === 'number') return brokenRuleOfNumber(value)
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > TREE_DEPTH_MAX) return DEPTH_RULE
  // Without the pairs of Object.entries, which every update would pay for.
  for (const key of Object.keys(value)) {
    const item = (value as Readonly<Record<string, Json>>)[key] ?? null
    const rule = isSafeText(key) ? brokenRule(item, depth + 1) : UNSAFE_RULE
    if (rule !== undefined) return rule
  }
  return undefined
}

/** The rule that a number breaks; exact-json.ts reads a number that would change as NaN. */
function brokenRuleOfNumber(value: number): string | undefined {
  if (Number.isNaN(value)) return EXACT_RULE
  return Number.isFinite(value) ? undefined : FINITE_RULE
}

const FINITE_RULE = 'must hold finite numbers only'
const EXACT_RULE = 'must hold whole numbers that a double carries exactly; send others as text'
const DEPTH_RULE = `must not be nested deeper than ${TREE_DEPTH_MAX} levels`
