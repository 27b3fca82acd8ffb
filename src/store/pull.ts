// What a device has not acknowledged over all its channels, channel by channel: each is a job of
// its own, so a device with two thousand channels does not hold the gate for all of them.

import type { FeedEntry } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import { aheadOf } from './acknowledgements.ts'
import type { Database } from './database.ts'
import { deliverables } from './deliverables.ts'

interface Pulled {
  readonly channel: number
  readonly channelId: ChannelId
  readonly sinceSeq: number
  readonly ackedSeq: number
  readonly ackedAhead: string
}

/** In (channel_id, seq) order; never destructive. */
export async function pull(
  database: Database,
  deviceId: DeviceId,
  limit: number,
): Promise<{ readonly items: readonly FeedEntry[]; readonly hasMore: boolean }> {
  const items: FeedEntry[] = []
  for (const held of await behindOf(database, deviceId)) {
    items.push(...(await openOf(database, held, limit + 1 - items.length)))
    if (items.length > limit) return { items: items.slice(0, limit), hasMore: true }
  }
  return { items, hasMore: false }
}

/** The device's channels whose head is beyond its position. */
function behindOf(database: Database, deviceId: DeviceId): Promise<Pulled[]> {
  return database.read((session) =>
    session.all<Pulled>(
      `SELECT s.channel, c.channel_id AS channelId, s.since_seq AS sinceSeq,
          s.acked_seq AS ackedSeq, s.acked_ahead AS ackedAhead
        FROM devices d
        JOIN subscriptions s ON s.device = d.id
        JOIN channels c ON c.id = s.channel
        JOIN channel_heads h ON h.channel = c.id AND h.head_seq > s.acked_seq
        WHERE d.device_id = ? ORDER BY c.channel_id`,
      [deviceId],
    ),
  )
}

/** Deliverables of one channel without those acknowledged ahead. */
async function openOf(database: Database, held: Pulled, wanted: number): Promise<FeedEntry[]> {
  const { channel, channelId, sinceSeq } = held
  const ahead = new Set(aheadOf(held))
  const open: FeedEntry[] = []
  let afterSeq = held.ackedSeq
  while (open.length < wanted) {
    const stretch = { channel, afterSeq, sinceSeq, limit: wanted }
    const found = await database.snapshot((session) => deliverables(session, channelId, stretch))
    open.push(...found.filter(({ seq }) => !ahead.has(seq)))
    const last = found.at(-1)
    if (last === undefined || found.length < wanted) break
    afterSeq = last.seq
  }
  return open.slice(0, wanted)
}
