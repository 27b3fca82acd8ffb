// Reads of what the session does not bring: Events and Messages from before it began.

import type { FeedRecord } from '#src/client/bodies'
import { nowMs } from './clock.ts'
import { client } from './gateway.ts'
import { messageFrom } from './live-channel.ts'
import type { LiveChannel } from './live-channel.ts'
import { channels } from './saved.ts'
import { pastOf } from './thing-history.ts'
import type { Past } from './thing-history.ts'

const PAGE = 200
const PAGES_MAX = 10
const HOUR_MS = 3_600_000
/** Days in which Messages are looked for, until there are enough. */
const WINDOWS_MS = [24 * HOUR_MS, 7 * 24 * HOUR_MS, 30 * 24 * HOUR_MS]
const MESSAGES_WANTED = 50

/** The credentials with which the console reads a channel. */
export function readerOf(channelId: string): { channel_id: string; password: string } {
  const secret = channels.peek().find(({ id }) => id === channelId)?.secret ?? ''
  return { channel_id: channelId, password: secret }
}

interface Wanted {
  readonly sinceMs: number
  readonly model?: 'message' | 'event' | 'thing'
  readonly entityId?: string
  readonly signal?: AbortSignal
}

/** Entries of the feed since a time, in their order, up to a bound: then the newest are missing. */
export async function readFeed(
  channelId: string,
  { sinceMs, model, entityId, signal }: Wanted,
): Promise<{ readonly items: readonly FeedRecord[]; readonly isWhole: boolean }> {
  const items: FeedRecord[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const body = {
      ...readerOf(channelId),
      since: Math.floor(sinceMs),
      limit: PAGE,
      ...(model !== undefined && { model }),
      ...(entityId !== undefined && { entity_id: entityId }),
      ...(cursor !== undefined && { cursor }),
    }
    const answer = await client.peek().channel.history(body, signal === undefined ? {} : { signal })
    items.push(...answer.items)
    cursor = answer.next_cursor
    if (cursor === undefined) return { items, isWhole: true }
  }
  return { items, isWhole: false }
}

/**
 * Reads a Thing's history since a time in at most two pages: the first, and when there is more, the
 * one that ends about now.
 */
export async function readPast(
  channelId: string,
  entityId: string,
  sinceMs: number,
): Promise<Past> {
  const page = async (since: number): Promise<readonly FeedRecord[]> => {
    const wanted = { model: 'thing', entity_id: entityId, limit: PAGE } as const
    const body = { ...readerOf(channelId), ...wanted, since: Math.floor(since) }
    return (await client.peek().channel.history(body)).items
  }
  const first = await page(sinceMs)
  const last = first.at(-1)
  if (last === undefined || first.length < PAGE) return pastOf(first)
  const perPage = Math.max(1, last.accepted_at - sinceMs)
  return pastOf(await page(Math.max(last.accepted_at, nowMs() - perPage * 0.9)))
}

/** Reads open Events, the newest closed ones, and the newest Messages. */
export async function loadChannel(channel: LiveChannel): Promise<void> {
  try {
    await loadEvents(channel, 'open', PAGES_MAX)
    await loadEvents(channel, 'closed', 1)
    const month = nowMs() - (WINDOWS_MS.at(-1) ?? 0)
    channel.addBeginnings((await readFeed(channel.id, { sinceMs: month, model: 'event' })).items)
    for (const window of WINDOWS_MS) {
      const { items } = await readFeed(channel.id, { sinceMs: nowMs() - window, model: 'message' })
      channel.addMessages(items.map(messageFrom))
      if (items.length >= MESSAGES_WANTED) break
    }
  } catch {
    // The session comes back and reads again; what is shown says how old it is.
  }
}

async function loadEvents(
  channel: LiveChannel,
  state: 'open' | 'closed',
  pages: number,
): Promise<void> {
  let cursor: string | undefined
  for (let page = 0; page < pages; page += 1) {
    const body = { ...readerOf(channel.id), state, limit: PAGE }
    const answer = await client
      .peek()
      .event.list({ ...body, ...(cursor !== undefined && { cursor }) })
    channel.addEvents(answer.items)
    cursor = answer.next_cursor
    if (cursor === undefined) return
  }
}
