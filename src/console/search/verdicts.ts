// What the gateway says of the terms of a search, from the Things that it finds by each.

import type { Where } from '#domain/rules/condition'
import type { Answers } from './where.ts'

/**
 * The verdicts of terms: a Thing that meets neither one nor its opposite has none. `idsWith` gives
 * the ids of the Things that meet a condition.
 */
export async function verdictsOf(
  terms: readonly Where[],
  idsWith: (where: Where) => Promise<readonly string[]>,
): Promise<Answers> {
  const answers = new Map<string, ReadonlyMap<string, boolean>>()
  for (const term of terms) {
    const holding = await idsWith(term)
    const failing = await idsWith({ not: term })
    const verdicts = new Map(failing.map((id) => [id, false]))
    for (const id of holding) verdicts.set(id, true)
    answers.set(JSON.stringify(term), verdicts)
  }
  return answers
}
