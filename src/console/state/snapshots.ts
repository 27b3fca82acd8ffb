// The last known state of each channel in IndexedDB, for a page that is opened without a network.

import { isRecord } from '#domain/record'
import type { ChannelSnapshot } from './live-channel.ts'

const DATABASE = 'heliograph console'
const STORE = 'channels'

let opened: Promise<IDBDatabase | undefined> | undefined

/** The saved state of a channel; undefined when there is none, or no database. */
export async function readSnapshot(channelId: string): Promise<ChannelSnapshot | undefined> {
  const database = await (opened ??= open())
  if (database === undefined) return undefined
  const channels = database.transaction(STORE).objectStore(STORE)
  const found = await resultOf<unknown>(channels.get(channelId))
  return isRecord(found) && Array.isArray(found['things'])
    ? (found as unknown as ChannelSnapshot) // written by `writeSnapshot`
    : undefined
}

/** Saves the state of a channel; undefined removes it. */
export async function writeSnapshot(
  channelId: string,
  snapshot: ChannelSnapshot | undefined,
): Promise<void> {
  const database = await (opened ??= open())
  if (database === undefined) return
  const store = database.transaction(STORE, 'readwrite', { durability: 'relaxed' })
  const channels = store.objectStore(STORE)
  const saving =
    snapshot === undefined
      ? resultOf(channels.delete(channelId))
      : resultOf(channels.put(snapshot, channelId))
  await saving.catch(() => undefined) // A full disk: the page goes on without.
}

async function open(): Promise<IDBDatabase | undefined> {
  try {
    const request = indexedDB.open(DATABASE, 1)
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE))
    return await resultOf(request)
  } catch {
    return undefined // Some private windows have no database.
  }
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  request.addEventListener('success', () => resolve(request.result))
  request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')))
  return promise
}
