// Finds the store's own number of a channel, by which its rows are named.

import type { ChannelId } from '#domain/identity'
import type { Executor } from '#src/store/jobs/executor'

/** The store's own number of a channel that is there. */
export async function channelOf(
  executor: Executor,
  channelId: ChannelId,
): Promise<number | undefined> {
  const row = await executor.first<{ id: number }>(
    'SELECT id FROM channels WHERE channel_id = ? AND is_deleted = 0',
    [channelId],
  )
  return row?.id
}
