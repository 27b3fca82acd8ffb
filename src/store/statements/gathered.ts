// One SELECT for many keys, each with a LIMIT of its own, as one statement: a database on another
// machine answers it in one round trip.
//
// A join with a table of keys would need no text of its own for each number of keys, but it has one
// LIMIT for all: the first key could take it all, and the rows behind it would be read for nothing.

import type { Value } from '#src/store/dialect'
import type { Executor } from '#src/store/jobs/executor'

/** A power of two. With 32 the server takes as long as with 16 to find the rows of each. */
const GATHERED_MAX = 16

/**
 * The rows of a SELECT for each list of parameters, in their order. The rows of one list are in the
 * order of its SELECT.
 */
export async function allForEach<Row>(
  executor: Executor,
  select: string,
  lists: readonly (readonly Value[])[],
): Promise<readonly (readonly Row[])[]> {
  const found: Row[][] = []
  let size: number
  for (let start = 0; start < lists.length; start += size) {
    // Only powers of two as sizes, so that few different statements are prepared.
    size = Math.min(GATHERED_MAX, 2 ** Math.floor(Math.log2(lists.length - start)))
    const part = lists.slice(start, start + size)
    found.push(...(await rowsForEach<Row>(executor, select, part)))
  }
  return found
}

async function rowsForEach<Row>(
  executor: Executor,
  select: string,
  lists: readonly (readonly Value[])[],
): Promise<Row[][]> {
  const [only] = lists
  if (only !== undefined && lists.length === 1) return [await executor.all<Row>(select, only)]
  const rows = await executor.all<Row & { readonly list: number }>(
    gathered(select, lists.length),
    lists.flat(),
  )
  const found = lists.map((): Row[] => [])
  for (const row of rows) found[row.list]?.push(row)
  return found
}

const gathered = (select: string, times: number): string =>
  Array.from(
    { length: times },
    (_, list) => `SELECT ${list} AS list, q${list}.* FROM (${select}) q${list}`,
  ).join(' UNION ALL ')
