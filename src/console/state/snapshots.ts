// The last known state of each channel in IndexedDB, for a page that is opened without a network.

import { isRecord } from '#domain/record'
import { storeIn } from './database.ts'
import type { ChannelSnapshot } from './live-channel.ts'

const store = storeIn('heliograph console', 'channels')

/** The saved state of a channel; undefined when there is none, or no database. */
export async function readSnapshot(channelId: string): Promise<ChannelSnapshot | undefined> {
  const found = await store.get(channelId)
  return isRecord(found) && Array.isArray(found['things'])
    ? (found as unknown as ChannelSnapshot) // written by `writeSnapshot`
    : undefined
}

/** Saves the state of a channel; undefined removes it. */
export const writeSnapshot = (
  channelId: string,
  snapshot: ChannelSnapshot | undefined,
): Promise<void> => store.put(channelId, snapshot)
