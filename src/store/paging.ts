// Pages of lists and of history.
//
// Invariants:
//   R1. A page steps over at most SCANNED_MAX rows, however few of them match: then it ends early
//       and says where the next one begins. Reads are jobs of the one gate, and no filter may hold
//       it for long.

import type { Page } from '#domain/store-ports'
import type { Value } from './dialect.ts'

export const SCANNED_MAX = 2_000

/** A condition on top of others; empty when there is none. */
export interface Filter {
  readonly sql: string
  readonly parameters: readonly Value[]
}

/**
 * `rows` are up to one more than the page holds; `end`: where the next page begins if they are not.
 */
export function pageOf<Row extends { readonly seq: number }>(
  rows: readonly Row[],
  limit: number,
  end: number | undefined,
): Page<Row> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  if (rows.length > limit && last !== undefined) return { items, next: last.seq }
  return end === undefined ? { items } : { items, next: end }
}
