// When the values of a Thing were set.

import { attrTime } from '#src/client/view'
import type { ThingView } from '#src/client/view'
import { observedAt } from '#console/search/search.ts'

/** When a value of a Thing was set, in Unix milliseconds. */
export const setAt = (thing: ThingView, attr: string): number =>
  attrTime(thing, attr) ?? observedAt(thing)
