// A Thing as queries see it: what conditions of rules know, and what only queries ask about.

import type { ThingState } from '#domain/entity'
import type { Fields } from '#domain/submission'
import type { SeenThing } from '#domain/things/document'
import type { Facts } from '#src/rules/conditions'
import type { Work } from '#src/rules/work'

export interface ThingFacts extends Facts {
  readonly state: ThingState
  readonly seq: number
  readonly fields: Fields
}

/** The facts at a time, with a budget for what is computed of them. */
export function factsOf(thing: SeenThing, nowMs: number, work: Work): ThingFacts {
  const { id, state, seq, fields, attrs, heardAt, changedAt } = thing
  const named = textIn(fields, 'title')
  const title = named === '' ? id : named
  return { id, title, state, seq, fields, attrs, heardAt: heardAt ?? changedAt, nowMs, work }
}

/** The text of a field; an empty one when it is another value or missing. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** The tags of a Thing. */
export function tagsIn({ tags }: Fields): readonly string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
}
