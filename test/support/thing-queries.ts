// Things and queries of them for tests: Things are made of a few values, and pages are read until
// the last one.

import type { Thing, ThingState } from '#domain/entity'
import { isFault } from '#domain/fault'
import { NO_FIELDS } from '#domain/patch'
import type { Fields } from '#domain/submission'
import { decodePlace, encodePlace } from '#domain/things/cursor'
import { LOOKING_BOUNDS, Looking } from '#src/queries/looking'
import type { LookingBounds, QueryResult } from '#src/queries/looking'
import { readQuery } from '#src/queries/query'
import type { SentQuery } from '#src/queries/query'
import { FakeReads } from './fake-reads.ts'
import { channel } from './submissions.ts'

export interface ThingParts {
  readonly id: string
  readonly seq: number
  readonly state?: ThingState
  readonly heardAt?: number
  readonly fields?: Fields
  readonly attrs?: Fields
}

export const thingOf = ({
  id,
  seq,
  state = 'active',
  heardAt = 0,
  ...parts
}: ThingParts): Thing => ({
  id,
  state,
  seq,
  rev: 1,
  stateAt: 1,
  at: 1,
  changedAt: heardAt,
  fields: { values: parts.fields ?? {}, times: undefined },
  attrs: { values: parts.attrs ?? {}, times: undefined },
  externalIds: NO_FIELDS,
})

export interface Asked extends SentQuery {
  readonly limit?: number
}

interface Circumstances {
  readonly nowMs?: number
  readonly bounds?: LookingBounds
  /** Things that one scan gives at most. */
  readonly scanned?: number
}

/** Reads one page over these Things; throws for a refusal. */
export async function pageOver(
  things: readonly Thing[],
  { limit = 50, ...sent }: Asked,
  { nowMs = 0, bounds = LOOKING_BOUNDS, scanned = 3 }: Circumstances = {},
): Promise<QueryResult & { readonly cursor?: string }> {
  const query = readQuery(sent)
  if (isFault(query)) throw new Error(JSON.stringify(query))
  const reads = new FakeReads()
  reads.keptThings = [...things]
  const looking = new Looking(query, { limit, nowMs, bounds })
  for (let scan = looking.nextScan; scan !== undefined; scan = looking.nextScan) {
    const found = await reads.scan({ ...scan, channelId: channel(1), limit: scanned })
    for (const _ of looking.take(found));
  }
  const result = looking.result()
  if (isFault(result)) throw new Error(JSON.stringify(result))
  const { next } = result
  if (next === undefined) return result
  const cursor = encodePlace(next)
  if (JSON.stringify(decodePlace(cursor)) !== JSON.stringify(next)) throw new Error(cursor)
  return { ...result, cursor }
}

/** Reads every page; `between` changes the Things behind each. */
export async function everyItem(
  things: readonly Thing[],
  asked: Asked,
  circumstances: Circumstances = {},
  between: (things: readonly Thing[]) => readonly Thing[] = (same) => same,
): Promise<{ readonly ids: readonly string[]; readonly pages: readonly QueryResult[] }> {
  const pages: QueryResult[] = []
  let [present, cursor]: [readonly Thing[], string | undefined] = [things, undefined]
  do {
    const page: Awaited<ReturnType<typeof pageOver>> = await pageOver(
      present,
      { ...asked, ...(cursor !== undefined && { cursor }) },
      circumstances,
    )
    pages.push(page)
    cursor = page.cursor
    present = between(present)
  } while (cursor !== undefined && pages.length < 1_000)
  return { pages, ids: pages.flatMap(({ items }) => items.map(({ id }) => id)) }
}
