// Values by name, as a person writes them: numbers, true, false and JSON are taken as such.

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { typed, typedIn } from './text.ts'

export interface Pair {
  readonly name: string
  readonly value: string
}

export const EMPTY_PAIR: Pair = { name: '', value: '' }

/** The values of pairs with a name. */
export function valuesOf(pairs: readonly Pair[]): Record<string, Json> {
  const named = pairs.filter(({ name }) => name.trim() !== '')
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), typedIn(value)]))
}

/** The pairs whose values these are; none for what is no object. */
export const pairsOf = (values: unknown): readonly Pair[] =>
  isRecord(values)
    ? Object.entries(values).map(([name, value]) => ({ name, value: typed(value as Json) }))
    : []
