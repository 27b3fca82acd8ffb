// One page of what a device has yet to see of a channel.
//
// Invariants:
//   catch-up/1. No silent gap: when retention removed Messages or Events that the device had yet to
//     see, the page says which stretch it was.
//   catch-up/2. A Thing whose deletion can no longer be told ends in a restart: the device forgets
//     the channel's Things and gets every live one.
//   catch-up/3. What the page before told (`removedTo`) is not told again, so a catch-up of many
//     pages ends. Entries and tombstones are told apart, since a tombstone outlives entries behind
//     it.

import type { CatchUpPage, CatchUpRequest, RemovedTo } from '#domain/feed'
import type { Session } from './session.ts'
import { deliverables } from './deliverables.ts'
import { roomFor } from './sized.ts'

interface Heads {
  readonly channel: number
  readonly headSeq: number
  readonly entriesFloor: number
  readonly tombstoneFloor: number
}

const NOTHING: RemovedTo = { entries: 0, tombstones: 0 }

/** Reads a page; of a channel that does not exist, an empty complete one. */
export async function catchUp(session: Session, request: CatchUpRequest): Promise<CatchUpPage> {
  const { channelId, sinceSeq, deletedSince, limit, bytes } = request
  const heads = await session.first<Heads>(
    `SELECT h.channel, h.head_seq AS headSeq, h.entries_floor AS entriesFloor,
        h.tombstone_floor AS tombstoneFloor
      FROM channels c JOIN channel_heads h ON h.channel = c.id
      WHERE c.channel_id = ? AND c.is_deleted = 0`,
    [channelId],
  )
  if (heads === undefined) return { entries: [], headSeq: 0, complete: true }

  const gap = gapOf(heads, request)
  const stretch = {
    channel: heads.channel,
    afterSeq: gap?.restart === true ? 0 : request.afterSeq, // catch-up/2
    sinceSeq: gap?.restart === true ? Math.max(sinceSeq, knownTo(heads, request)) : sinceSeq,
    ...(gap?.restart !== true && deletedSince !== undefined && { deletedSince }),
  }
  const room = roomFor(limit, bytes)
  const { entries, isComplete } = await deliverables(session, channelId, stretch, { room })
  return {
    entries,
    headSeq: heads.headSeq,
    complete: isComplete,
    removedTo: { entries: heads.entriesFloor, tombstones: heads.tombstoneFloor },
    ...(gap !== undefined && { gap }),
  }
}

/** The Messages and Events that the device has: a database that was restored may know fewer. */
const knownTo = ({ headSeq }: Heads, { afterSeq }: CatchUpRequest): number =>
  Math.min(afterSeq, headSeq)

function gapOf(heads: Heads, request: CatchUpRequest): CatchUpPage['gap'] {
  const { headSeq, entriesFloor, tombstoneFloor } = heads
  const { afterSeq, sinceSeq, removedTo = NOTHING } = request
  if (afterSeq > headSeq) {
    // The device knows entries that this database does not: it was restored from an older copy.
    // What it has beyond the head never happened here.
    return { from: headSeq + 1, to: afterSeq, restart: true }
  }
  const told = Math.max(afterSeq, sinceSeq, removedTo.entries) // catch-up/3
  // catch-up/2
  const restart = afterSeq > 0 && tombstoneFloor > Math.max(afterSeq, removedTo.tombstones)
  if (restart) {
    return { from: afterSeq + 1, to: Math.max(tombstoneFloor, entriesFloor), restart }
  }
  if (entriesFloor > told) return { from: told + 1, to: entriesFloor, restart } // catch-up/1
  return undefined
}
