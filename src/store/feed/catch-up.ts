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
 * complete one.
 */
export async function catchUp(
  executor: Executor,
  requests: readonly CatchUpRequest[],
  bytes?: number,
): Promise<readonly CatchUpPage[]> {
  const heads = await headsOf(executor, requests)
  const asked = requests.flatMap((request): KnownRequest[] => {
    const known = heads.get(request.channelId)
    return known === undefined ? [] : [{ request, heads: known, gap: gapOf(known, request) }]
  })
  const { found } = await deliverables(executor, asked.map(queryFor), roomFor(0, bytes))
  const pages = new Map<ChannelId, CatchUpPage>()
  for (const [at, { request, ...known }] of asked.entries()) {
    const part = found[at]
    if (part !== undefined) pages.set(request.channelId, pageOf(part, known))
  }
  const isBeyond = ({ channelId }: CatchUpRequest): boolean =>
    heads.has(channelId) && !pages.has(channelId)
  const end = requests.findIndex(isBeyond)
  const reached = end < 0 ? requests : requests.slice(0, end)
  return reached.map(({ channelId }) => pages.get(channelId) ?? NO_CHANNEL)
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
