// Where one channel of one session stands.
//
//   behind ── page asked for ──▶ loading ── page, all of it ──▶ live
//     ▲  ▲                          │  └── postponed ──▶ waiting for a tick ──▶ behind
//     │  └── more to read, or no room in the window
//     └── live: a hole, a lost announcement, or no room in the window

import type { CatchUpRequest, Position, RemovedTo } from '#domain/feed'
import type { ChannelId } from '#domain/identity'

type Stage = 'behind' | 'loading' | 'postponed' | 'live'

/** Plain state; the rules of its change are in serving.ts. */
export interface Progress {
  readonly channelId: ChannelId
  /** The head when the device subscribed. */
  readonly sinceSeq: number
  /** Messages and Events up to here are known to the device, or not for it. */
  entriesSince: number
  /** Deletions up to here are not for the device: it knows no Thing from before them. */
  deletedSince: number
  stage: Stage
  /**
   * Everything up to here was sent in this session, or is known to the device, or is not for it.
   */
  sentSeq: number
  ackedSeq: number
  /** The highest seq heard of. */
  announcedSeq: number
  /** Removals up to here are told; undefined: none. */
  removedTo: RemovedTo | undefined
  /** Entries that were sent and not acknowledged, in seq order: numbers only, never their text. */
  readonly owed: { readonly seq: number; readonly bytes: number }[]
}

export function progressFrom(position: Position, cursor: number): Progress {
  return {
    channelId: position.channelId,
    sinceSeq: position.sinceSeq,
    entriesSince: position.sinceSeq,
    // A cursor from before the subscription comes with the Things that were known at it.
    deletedSince: cursor > 0 ? Math.min(cursor, position.sinceSeq) : position.sinceSeq,
    stage: cursor >= position.headSeq ? 'live' : 'behind',
    sentSeq: cursor,
    ackedSeq: cursor,
    announcedSeq: position.headSeq,
    removedTo: undefined,
    owed: [],
  }
}

/** Takes what is owed up to a seq off the list; gives how much that was. */
export function settle(progress: Progress, seq: number): { entries: number; bytes: number } {
  let entries = 0
  let bytes = 0
  for (const owed of progress.owed) {
    if (owed.seq > seq) break
    entries += 1
    bytes += owed.bytes
  }
  progress.owed.splice(0, entries)
  return { entries, bytes }
}

export function requestOf(progress: Progress, limit: number): CatchUpRequest {
  const { channelId, sentSeq, entriesSince, deletedSince, removedTo } = progress
  return {
    channelId,
    afterSeq: sentSeq,
    sinceSeq: entriesSince,
    limit,
    ...(deletedSince < entriesSince && { deletedSince }),
    ...(removedTo !== undefined && { removedTo }),
  }
}
