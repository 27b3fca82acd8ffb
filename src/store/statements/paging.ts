// Pages of lists and of history. (sized/1 bounds their bytes.)
//
// Invariants:
//   paging/1. A page steps over at most SCANNED_MAX rows, however few of them match: then it ends
//     early and names the cursor of the next one. Reads are jobs of the one gate, and no filter may
//     hold it for long.

import type { Page } from '#domain/store-ports'
import type { Value } from '#src/store/dialect'
import type { Sized } from './sized.ts'

export const SCANNED_MAX = 2_000

/** A further condition; empty when there is none. */
export interface Filter {
  readonly sql: string
  readonly parameters: readonly Value[]
}

/** The condition that a column begins with a text, and its parameters. */
export const beginsWith = (column: string): string => `substr(${column}, 1, ?) = ?`
export const beginning = (prefix: string): readonly Value[] => [prefix.length, prefix]

/**
 * The page of the first `count` found items. `end`: the cursor of the next page when no found item
 * is left.
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
