// The one rule for what of a channel a device has yet to see, behind a position p and since its
// subscription s. (decisions.md 9)
//
//   Messages and Events: each entry with seq > p and seq > s.
//   Things: each Thing whose last change has seq > p, once; a deleted one only when that seq > s,
//   or behind what the device knew before it subscribed (`deletedSince`).
//
// Catching up, pulling and acknowledging single entries all read by this rule, so that they agree.

import type { FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import { entitiesIn } from './blocks.ts'
import type { Session } from './session.ts'
import { syncEntry } from './document.ts'
import type { ThingRow } from './entities/entities.ts'
import type { FeedRow } from './entities/feed.ts'
import { contentOf, fill, sizeColumns } from './sized.ts'
import type { ContentTable, Room, Sequenced, Sized } from './sized.ts'

/** A part of one channel's feed, as a device sees it. */
export interface Stretch {
  readonly channel: number
  /** p */
  readonly afterSeq: number
  /** s */
  readonly sinceSeq: number
  readonly deletedSince?: number
}

/** Deliverables that follow one another, as many as a page has room for. */
export interface Deliverables {
  /** In seq order. */
  readonly entries: readonly FeedEntry[]
  /** True when no more of the channel follow. */
  readonly isComplete: boolean
  /** The room of the page behind them. */
  readonly left: Room
}

/** Columns of a row of the feed, in the names of FeedEntry. */
export const FEED_COLUMNS = `seq, op_id AS opId, model, action, entity_id AS entityId, state, rev,
  accepted_at AS acceptedAt, payload`

export type StoredEntry = Omit<FeedRow, 'channel'>

export function entryFrom(channelId: ChannelId, row: StoredEntry): FeedEntry {
  const { state, rev, ...rest } = row
  return {
    channelId,
    ...rest,
    ...(state !== null && { state }),
    ...(rev !== null && { rev }),
  }
}

/** The next deliverables that a page has room for; those of `leftOut` are not among them. */
export async function deliverables(
  session: Session,
  channelId: ChannelId,
  stretch: Stretch,
  { room, leftOut }: { readonly room: Room; readonly leftOut?: ReadonlySet<number> },
): Promise<Deliverables> {
  // One more than there is room for tells whether more follow.
  const found = await sizesOf(session, stretch, room.items + 1 + (leftOut?.size ?? 0))
  const wanted = leftOut === undefined ? found : found.filter(({ seq }) => !leftOut.has(seq))
  const { count, left } = fill(wanted, room)
  const entries = await entriesOf(session, channelId, stretch.channel, wanted.slice(0, count))
  return { entries, isComplete: count === wanted.length, left }
}

/** Only the seqs of the next deliverables, at most `limit`. */
export async function deliverableSeqs(
  session: Session,
  stretch: Stretch,
  limit: number,
): Promise<number[]> {
  const found = await rowsIn<Sequenced>(session, stretch, { columnsOf: () => 'seq', limit })
  return found.map(({ seq }) => seq)
}

type FoundIn = { readonly table: 'feed_entries' | 'things' }

const sizesOf = (
  session: Session,
  stretch: Stretch,
  limit: number,
): Promise<readonly (Sized & FoundIn)[]> =>
  rowsIn<Sized>(session, stretch, { columnsOf: sizeColumns, limit })

/** The rows of both tables in seq order, at most `limit`. */
async function rowsIn<Row extends Sequenced>(
  session: Session,
  { channel, afterSeq, sinceSeq, deletedSince = sinceSeq }: Stretch,
  { columnsOf, limit }: { readonly columnsOf: (table: ContentTable) => string; limit: number },
): Promise<readonly (Row & FoundIn)[]> {
  const entries = await session.all<Row>(
    `SELECT ${columnsOf('feed_entries')}
      FROM feed_entries WHERE channel = ? AND seq > ? ORDER BY seq LIMIT ?`,
    [channel, Math.max(afterSeq, sinceSeq), limit],
  )
  const filter = { sql: ` AND (state <> 'deleted' OR seq > ?)`, parameters: [deletedSince] }
  const things = await entitiesIn<Row>(
    session,
    { table: 'things', channel, after: afterSeq, filter },
    { columns: columnsOf('things'), order: 'oldest first', limit },
  )
  return mergeBySeq(
    entries.map((row) => ({ ...row, table: 'feed_entries' as const })),
    things.map((row) => ({ ...row, table: 'things' as const })),
    limit,
  )
}

async function entriesOf(
  session: Session,
  channelId: ChannelId,
  channel: number,
  wanted: readonly (Sized & FoundIn)[],
): Promise<readonly FeedEntry[]> {
  const entries = await contentOf<StoredEntry>(
    session,
    { table: 'feed_entries', channel, columns: FEED_COLUMNS },
    wanted.filter(({ table }) => table === 'feed_entries'),
  )
  const things = await contentOf<Omit<ThingRow, 'channel'>>(
    session,
    { table: 'things', channel, columns: 'id, state, seq, op_id AS opId, document' },
    wanted.filter(({ table }) => table === 'things'),
  )
  return mergeBySeq(
    entries.map((row) => entryFrom(channelId, row)),
    things.map((row) => syncEntry(channelId, row)),
    wanted.length,
  )
}

/** Two lists in seq order as one, cut at `limit`. */
export function mergeBySeq<A extends Sequenced, B extends Sequenced>(
  first: readonly A[],
  second: readonly B[],
  limit: number,
): (A | B)[] {
  const merged: (A | B)[] = [...first, ...second]
  merged.sort((a, b) => a.seq - b.seq)
  return merged.slice(0, limit)
}
