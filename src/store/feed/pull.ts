// Reads the unacknowledged entries of a device, over all its channels. Each channel is a job of its
// own, so a device with two thousand channels does not hold the gate for all of them.

import type { FeedEntry, Pulled } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import { aheadOf } from './acknowledgements.ts'
import type { SubscriptionRow } from '#src/store/entities/devices'
import type { Database } from '#src/store/jobs/database'
import { deliverables } from './deliverables.ts'
import { roomFor } from '#src/store/statements/sized'
import type { RoomInBytes } from '#src/store/statements/sized'

type Behind = Omit<SubscriptionRow, 'device' | 'createdAt'> & { readonly channelId: ChannelId }

/** Reads in (channel_id, seq) order; changes nothing. */
export async function pull(database: Database, deviceId: DeviceId, limit: number): Promise<Pulled> {
  const items: FeedEntry[] = []
  let room: RoomInBytes = roomFor(limit)
  for (const held of await behindOf(database, deviceId)) {
    const { found, left } = await openOf(database, held, { room, limit: limit - items.length })
    const [open] = found
    items.push(...(open?.entries ?? []))
    if (open?.isComplete !== true) return { items, hasMore: true }
    room = left
  }
  return { items, hasMore: false }
}

/** The device's channels whose head is beyond its position. */
function behindOf(database: Database, deviceId: DeviceId): Promise<readonly Behind[]> {
  return database.all<Behind>(
    `SELECT s.channel, c.channel_id AS channelId, s.since_seq AS sinceSeq,
          s.acked_seq AS ackedSeq, s.acked_ahead AS ackedAhead
        FROM devices d
        JOIN subscriptions s ON s.device = d.id
        JOIN channels c ON c.id = s.channel
        JOIN channel_heads h ON h.channel = c.id AND h.head_seq > s.acked_seq
        WHERE d.device_id = ? ORDER BY c.channel_id`,
    [deviceId],
  )
}

interface PullBounds {
  readonly room: RoomInBytes
  readonly limit: number
}

/** Deliverables of one channel without those acknowledged ahead. (deliverables/1) */
async function openOf(
  database: Database,
  held: Behind,
  { room, limit }: PullBounds,
): ReturnType<typeof deliverables> {
  const { channel, channelId, sinceSeq, ackedSeq: afterSeq } = held
  const leftOut = new Set(aheadOf(held))
  let scannedTo: number | undefined
  for (;;) {
    const query = { channel, channelId, afterSeq, sinceSeq, limit, leftOut, scannedTo }
    const read = await database.snapshot((executor) => deliverables(executor, [query], room))
    scannedTo = read.found[0]?.scannedTo
    if (scannedTo === undefined) return read
  }
}
