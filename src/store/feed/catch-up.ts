// Pages of the entries that a device has yet to see, several channels in one go.
//
// Invariants:
//   catch-up/1. No silent gap: when retention removed Messages or Events that the device had yet to
//     see, the page names that stretch.
//   catch-up/2. Once retention has removed the tombstone of a Thing that the device may have, the
//     page demands a restart: the device forgets the channel's Things and gets every live one.
//   catch-up/3. No page names the gap of an earlier one (`removedTo`) again, so a catch-up of many
//     pages ends. `removedTo` separates entries from tombstones, since a tombstone outlives
//     entries behind it.

import type { CatchUpPage, CatchUpRequest, RemovedTo } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { ChannelHeadRow } from '#src/store/entities/channels'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { deliverables } from './deliverables.ts'
import type { Deliverables, DeliverablesQuery } from './deliverables.ts'
import { roomFor } from '#src/store/statements/sized'

type Heads = Pick<ChannelHeadRow, 'channel' | 'headSeq' | 'entriesFloor' | 'tombstoneFloor'> & {
  readonly channelId: ChannelId
}

const NOTHING: RemovedTo = { entries: 0, tombstones: 0 }
const NO_CHANNEL: CatchUpPage = { entries: [], headSeq: 0, complete: true }

/** A request about a channel that exists, and the state that answers it. */
interface KnownRequest {
  readonly request: CatchUpRequest
  readonly heads: Heads
  readonly gap: CatchUpPage['gap']
}

/**
 * Reads a page of each channel, as many as there is room for; of one that does not exist, an empty
 * complete one. The pages are of one snapshot: those before it only find where they begin.
 * (deliverables/1)
 */
export async function catchUp(
  database: Database,
  requests: readonly CatchUpRequest[],
  bytes?: number,
): Promise<readonly CatchUpPage[]> {
  const scanned: Scanned = new Map()
  for (let asked = requests; ;) {
    const read = await database.snapshot((executor) => pagesOf(executor, asked, scanned, bytes))
    for (const { key, scannedTo } of read.unfinished) scanned.set(key, scannedTo)
    if (read.unfinished.length > 0) asked = read.unfinished.map(({ request }) => request)
    else if (asked.length === requests.length) return read.pages
    else asked = requests
  }
}

/** Up to where reads have found nothing, by channel and the position that they began at. */
type Scanned = Map<string, number>

interface Unfinished {
  readonly request: CatchUpRequest
  readonly key: string
  readonly scannedTo: number
}

const keyOf = ({ channel, afterSeq }: DeliverablesQuery): string => `${channel} ${afterSeq}`

async function pagesOf(
  executor: Executor,
  requests: readonly CatchUpRequest[],
  scanned: Scanned,
  bytes: number | undefined,
): Promise<{ readonly pages: readonly CatchUpPage[]; readonly unfinished: readonly Unfinished[] }> {
  const heads = await headsOf(executor, requests)
  const asked = requests.flatMap((request): KnownRequest[] => {
    const known = heads.get(request.channelId)
    return known === undefined ? [] : [{ request, heads: known, gap: gapOf(known, request) }]
  })
  const queries = asked.map(queryFor).map((query) => ({
    ...query,
    scannedTo: scanned.get(keyOf(query)),
  }))
  const { found } = await deliverables(executor, queries, roomFor(0, bytes))
  const pages = new Map<ChannelId, CatchUpPage>()
  const unfinished: Unfinished[] = []
  for (const [at, { request, ...known }] of asked.entries()) {
    const [part, query] = [found[at], queries[at]]
    if (part === undefined || query === undefined) continue
    pages.set(request.channelId, pageOf(part, known))
    const { scannedTo } = part
    if (scannedTo !== undefined) unfinished.push({ request, key: keyOf(query), scannedTo })
  }
  const isBeyond = ({ channelId }: CatchUpRequest): boolean =>
    heads.has(channelId) && !pages.has(channelId)
  const end = requests.findIndex(isBeyond)
  const reached = end < 0 ? requests : requests.slice(0, end)
  return { pages: reached.map(({ channelId }) => pages.get(channelId) ?? NO_CHANNEL), unfinished }
}

async function headsOf(
  executor: Executor,
  requests: readonly CatchUpRequest[],
): Promise<ReadonlyMap<ChannelId, Heads>> {
  const { dialect } = executor
  const rows = await executor.all<Heads>(
    `SELECT${dialect.inOrder} c.channel_id AS channelId, h.channel, h.head_seq AS headSeq,
        h.entries_floor AS entriesFloor, h.tombstone_floor AS tombstoneFloor
      FROM ${dialect.keys('k', { channel_id: 'text' })}
      CROSS JOIN channels c ON c.channel_id = k.channel_id
      CROSS JOIN channel_heads h ON h.channel = c.id
      WHERE c.is_deleted = 0`,
    [JSON.stringify(requests.map(({ channelId }) => [channelId]))],
  )
  return new Map(rows.map((row) => [row.channelId, row]))
}

function queryFor({ request, heads, gap }: KnownRequest): DeliverablesQuery {
  const { channelId, afterSeq, sinceSeq, deletedSince, limit } = request
  const { channel } = heads
  if (gap?.restart === true) {
    const known = Math.max(sinceSeq, knownTo(heads, request))
    return { channelId, channel, afterSeq: 0, sinceSeq: known, limit } // catch-up/2
  }
  const query = { channelId, channel, afterSeq, sinceSeq, limit }
  return deletedSince === undefined ? query : { ...query, deletedSince }
}

const pageOf = (
  { entries, isComplete }: Deliverables,
  { heads, gap }: Pick<KnownRequest, 'heads' | 'gap'>,
): CatchUpPage => ({
  entries,
  headSeq: heads.headSeq,
  complete: isComplete,
  removedTo: { entries: heads.entriesFloor, tombstones: heads.tombstoneFloor },
  ...(gap !== undefined && { gap }),
})

/** The Messages and Events that the device has: a database that was restored may know fewer. */
const knownTo = ({ headSeq }: Heads, { afterSeq }: CatchUpRequest): number =>
  Math.min(afterSeq, headSeq)

function gapOf(heads: Heads, request: CatchUpRequest): CatchUpPage['gap'] {
  const { headSeq, entriesFloor, tombstoneFloor } = heads
  const { afterSeq, sinceSeq, removedTo = NOTHING } = request
  if (afterSeq > headSeq) {
    // The device knows entries that this database does not: the database was restored from an older
    // copy. Entries beyond the head never happened here.
    return { from: headSeq + 1, to: afterSeq, restart: true }
  }
  const reportedTo = Math.max(afterSeq, sinceSeq, removedTo.entries) // catch-up/3
  // catch-up/2
  const restart = afterSeq > 0 && tombstoneFloor > Math.max(afterSeq, removedTo.tombstones)
  if (restart) {
    return { from: afterSeq + 1, to: Math.max(tombstoneFloor, entriesFloor), restart }
  }
  // catch-up/1
  if (entriesFloor > reportedTo) return { from: reportedTo + 1, to: entriesFloor, restart }
  return undefined
}
