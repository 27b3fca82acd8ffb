// Pages of lists and of history. How many bytes they have: sized/1.
//
// Invariants:
//   paging/1. A page steps over at most SCANNED_MAX rows, however few of them match: then it ends
//     early and says where the next one begins. Reads are jobs of the one gate, and no filter may
//     hold it for long.

import type { Page } from '#domain/store-ports'
import type { Value } from './dialect.ts'
import type { Sized } from './sized.ts'

export const SCANNED_MAX = 2_000

/** A condition on top of others; empty when there is none. */
export interface Filter {
  readonly sql: string
  readonly parameters: readonly Value[]
}

/**
 * The page of the first `count` of what was found. `end`: where the next page begins when nothing
 * that was found is left.
 */
export function pageOf<Item>(
  items: readonly Item[],
  found: readonly Sized[],
  end: number | undefined,
): Page<Item> {
  const last = found[items.length - 1]
  if (items.length < found.length && last !== undefined) return { items, next: last.seq }
  return end === undefined ? { items } : { items, next: end }
}
