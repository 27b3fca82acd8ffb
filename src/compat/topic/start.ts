// Finds the place in a channel's feed at which a subscriber of the topic style begins.

import type { ChannelInfo } from '#domain/channel'
import type { FeedFollowing } from '#src/acceptance/feed-following'
import { topicIdOf } from './subscription.ts'
import type { Since } from './subscription.ts'

export interface Start {
  readonly afterSeq: number
  readonly sinceMs?: number
}

/** Entries among which the last message, or one with a given id, is searched. */
const LOOKED_BACK_MAX = 10_000
const PAGE = 200

/** The place behind which the subscriber reads; the beginning for an unknown id. */
export async function startOf(
  following: FeedFollowing,
  { channelId, headSeq }: ChannelInfo,
  since: Since,
): Promise<Start> {
  if (since.kind === 'all') return { afterSeq: 0 }
  if (since.kind === 'none') return { afterSeq: headSeq }
  if (since.kind === 'time') return { afterSeq: 0, sinceMs: since.ms }
  let last: number | undefined
  let next: number | undefined = Math.max(0, headSeq - LOOKED_BACK_MAX)
  while (next !== undefined) {
    const page = await following.page({ channelId, afterSeq: next, model: 'message', limit: PAGE })
    for (const { seq, entityId } of page.items) {
      if (since.kind === 'id' && topicIdOf(entityId) === since.id) return { afterSeq: seq }
      last = seq
    }
    next = page.next
  }
  if (since.kind === 'id') return { afterSeq: 0 }
  return { afterSeq: last === undefined ? headSeq : last - 1 }
}
