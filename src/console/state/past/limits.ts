// The limits that rules set to an attr.

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import type { RuleJson } from '#console/state/rule-form.ts'

export interface Limit {
  readonly value: number
  /** Where the values lie that the rule watches for. */
  readonly side: 'above' | 'below'
}

/** The limits of an attr in a condition, however deep. */
export function limitsIn(condition: Json | undefined, attr: string): readonly Limit[] {
  if (!isRecord(condition)) return []
  const { all, any, not, above, below, outside, inside, attr: name } = condition as RuleJson
  const parts = [all, any].flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : []))
  const within = [...parts, not].flatMap((part) => limitsIn(part, attr))
  if (name !== attr) return within
  const [low, high] = Array.isArray(outside) ? (outside as readonly Json[]) : []
  const [from, to] = Array.isArray(inside) ? (inside as readonly Json[]) : []
  const found: readonly (readonly [Json | undefined, Limit['side']])[] = [
    [above, 'above'],
    [below, 'below'],
    [low, 'below'],
    [high, 'above'],
    [from, 'above'],
    [to, 'below'],
  ]
  return found.flatMap(([value, side]) => (typeof value === 'number' ? [{ value, side }] : []))
}

/** The limits that rules set to an attr, each once. */
export function limitsOf(rules: readonly RuleJson[], attr: string): readonly Limit[] {
  const found = rules.flatMap(({ when }) => limitsIn(when, attr))
  return [...new Map(found.map((limit) => [`${limit.side} ${limit.value}`, limit])).values()]
}
