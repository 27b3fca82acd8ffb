// Keeps the state of one channel in one session.
//
//   behind ── page requested ──▶ loading ── page, all of it ──▶ live
//     ▲  ▲                          │  └── postponed ──▶ waiting for a tick ──▶ behind
//     │  └── more to read, or no room in the window
//     └── live: a hole, a lost announcement, or no room in the window

import type { Position, RemovedTo } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import { noticeOutput } from './inbound.ts'
import type { Output, PageRequest } from './signals.ts'

type Stage = 'behind' | 'loading' | 'postponed' | 'live'

/** Plain state; serving.ts has the rules by which it changes. */
export interface Progress {
  readonly channelId: ChannelId
  /** The head when the device subscribed. */
  readonly sinceSeq: number
  /** The seq up to which the device knows Messages and Events, or must not get them. */
  entriesSince: number
  /** The seq up to which the device gets no deletions: it knows no Thing from before them. */
  deletedSince: number
  stage: Stage
  /** True while the session has had every change up to `sentSeq`. (serving/6) */
  hasEveryChange: boolean
  /**
   * The seq up to which every entry was sent in this session, is known to the device, or is not for
   * it.
   */
  sentSeq: number
  ackedSeq: number
  /** True until the device has acknowledged that it has caught up. */
  isUnanswered: boolean
  /** The highest announced seq. */
  announcedSeq: number
  /** The removals that the device knows of; undefined before any. */
  removedTo: RemovedTo | undefined
  /** The sent and unacknowledged entries in seq order: numbers only, no text. */
  readonly unacknowledged: { readonly seq: number; readonly bytes: number }[]
}

export function progressFrom(position: Position, cursor: number): Progress {
  const isLive = cursor >= position.headSeq
  return {
    channelId: position.channelId,
    sinceSeq: position.sinceSeq,
    entriesSince: position.sinceSeq,
    // A device with a cursor from before the subscription knows the Things of that time.
    deletedSince: cursor > 0 ? Math.min(cursor, position.sinceSeq) : position.sinceSeq,
    stage: isLive ? 'live' : 'behind',
    hasEveryChange: isLive,
    sentSeq: cursor,
    ackedSeq: cursor,
    isUnanswered: false,
    announcedSeq: position.headSeq,
    removedTo: undefined,
    unacknowledged: [],
  }
}

/** Tells a device that it has caught up, and expects that it acknowledges this once. */
export function caughtUp(progress: Progress): Output {
  progress.isUnanswered = true
  const { channelId, sentSeq: seq } = progress
  return noticeOutput({ kind: 'caught-up', channelId, seq })
}

/** True for the acknowledgement of a `caught_up` behind which nothing was new. (inbound/1) */
export function answersCaughtUp(progress: Progress, seq: number): boolean {
  const isAnswer = progress.isUnanswered && seq === progress.ackedSeq
  if (isAnswer) progress.isUnanswered = false
  return isAnswer
}

/** Removes unacknowledged entries up to a seq; gives their number and bytes. */
export function removeUnacknowledged(
  progress: Progress,
  seq: number,
): { entries: number; bytes: number } {
  let entries = 0
  let bytes = 0
  for (const entry of progress.unacknowledged) {
    if (entry.seq > seq) break
    entries += 1
    bytes += entry.bytes
  }
  progress.unacknowledged.splice(0, entries)
  return { entries, bytes }
}

export function requestOf(progress: Progress, limit: number): PageRequest {
  const { channelId, sentSeq, entriesSince, deletedSince, removedTo, hasEveryChange } = progress
  return {
    channelId,
    hasEveryChange,
    afterSeq: sentSeq,
    sinceSeq: entriesSince,
    limit,
    ...(deletedSince < entriesSince && { deletedSince }),
    ...(removedTo !== undefined && { removedTo }),
  }
}
