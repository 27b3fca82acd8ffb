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
import type { Sequenced } from './blocks.ts'
import type { Session } from './session.ts'
import { syncEntry } from './document.ts'
import type { ThingRow } from './entities/entities.ts'
import type { FeedRow } from './entities/feed.ts'

/** A part of one channel's feed, as a device sees it. */
export interface Stretch {
  readonly channel: number
  /** p */
  readonly afterSeq: number
  /** s */
  readonly sinceSeq: number
  readonly deletedSince?: number
  readonly limit: number
}

const ENTRIES = `FROM feed_entries WHERE channel = ? AND seq > ? ORDER BY seq LIMIT ?`

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

/** The next deliverables in seq order, at most `limit`. */
export async function deliverables(
  session: Session,
  channelId: ChannelId,
  stretch: Stretch,
): Promise<FeedEntry[]> {
  const { channel, afterSeq, sinceSeq, limit } = stretch
  const entries = await session.all<StoredEntry>(`SELECT ${FEED_COLUMNS} ${ENTRIES}`, [
    channel,
    Math.max(afterSeq, sinceSeq),
    limit,
  ])
  const columns = 'id, state, seq, op_id AS opId, document'
  const things = await thingsOf<Omit<ThingRow, 'channel'>>(session, stretch, columns)
  const merged = mergeBySeq(entries, things, limit)
  return merged.map((row) =>
    'document' in row ? syncEntry(channelId, row) : entryFrom(channelId, row),
  )
}

/** Only the seqs of the same. */
export async function deliverableSeqs(session: Session, stretch: Stretch): Promise<number[]> {
  const { channel, afterSeq, sinceSeq, limit } = stretch
  const entries = await session.all<{ seq: number }>(`SELECT seq ${ENTRIES}`, [
    channel,
    Math.max(afterSeq, sinceSeq),
    limit,
  ])
  const things = await thingsOf<Sequenced>(session, stretch, 'seq')
  return mergeBySeq(entries, things, limit).map(({ seq }) => seq)
}

function thingsOf<Row extends Sequenced>(
  session: Session,
  { channel, afterSeq, sinceSeq, deletedSince = sinceSeq, limit }: Stretch,
  columns: string,
): Promise<Row[]> {
  const filter = { sql: ` AND (state <> 'deleted' OR seq > ?)`, parameters: [deletedSince] }
  const slice = { table: 'things', channel, after: afterSeq, filter } as const
  return entitiesIn(session, slice, { columns, order: 'oldest first', limit })
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
