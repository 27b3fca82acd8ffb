// Marks the channels with subscribers that a provider reaches. The mark is in the row of the
// channel's head, so a turn looks for subscribers of marked channels only.
//
// Invariants:
//   flags/1. A channel with such a subscriber has the mark. The transaction that makes a device
//            such a subscriber sets it, under the lock of the head, which every turn of the channel
//            takes first. The mark stays: a marked channel may have no such subscriber any more.

import type { DeviceId } from '#domain/identity'
import { changeIn } from '#src/store/statements/bulk'
import type { Executor } from '#src/store/jobs/executor'

/** flags/1: marks a channel; gives its head, which stays locked until the transaction ends. */
export async function flagChannel(executor: Executor, channel: number): Promise<number> {
  const head = await executor.first<{ headSeq: number; isFlagged: number }>(
    `SELECT head_seq AS headSeq, has_provider_routes AS isFlagged
      FROM channel_heads WHERE channel = ?${executor.dialect.forUpdate}`,
    [channel],
  )
  if (head?.isFlagged === 0) await flag(executor, [{ channel }])
  return head?.headSeq ?? 0
}

/** flags/1: marks every channel that a device follows. */
export async function flagChannelsOf(executor: Executor, deviceId: DeviceId): Promise<void> {
  const followed = await executor.all<{ channel: number }>(
    `SELECT h.channel FROM devices d
      JOIN subscriptions s ON s.device = d.id
      JOIN channel_heads h ON h.channel = s.channel AND h.has_provider_routes = 0
      WHERE d.device_id = ?`,
    [deviceId],
  )
  await flag(executor, followed)
}

async function flag(
  executor: Executor,
  rows: readonly { readonly channel: number }[],
): Promise<void> {
  const found = new Set(rows.map(({ channel }) => channel))
  const channels = [...found].toSorted((one, other) => one - other)
  await changeIn(
    executor,
    channels,
    (list) => `UPDATE channel_heads SET has_provider_routes = 1
      WHERE channel IN (${list}) AND has_provider_routes = 0`,
  )
}
