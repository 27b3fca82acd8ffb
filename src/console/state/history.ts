// Reads of what the session does not bring: Events and Messages from before it began.

import type { Presentation } from '#console/model/faces.ts'
import type { FeedRecord } from '#src/client/bodies'
import { nowMs } from './clock.ts'
import { readNewest, readPages } from './past/feed-pages.ts'
import type { Read } from './past/feed-pages.ts'
import { client } from './gateway.ts'
import { messageFrom } from './live-channel.ts'
import type { LiveChannel } from './live-channel.ts'
import { channels } from './saved.ts'

const PAGE = 200
const PAGES_MAX = 10
const MONTH_MS = 30 * 86_400_000
const EVENTS_WANTED = 500
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
export function readFeed(
  channelId: string,
  { sinceMs, model, entityId, signal }: Wanted,
): Promise<Read<FeedRecord>> {
  const page = (cursor: string | undefined) => {
    const body = {
      ...readerOf(channelId),
      since: Math.floor(sinceMs),
      limit: PAGE,
      ...(model !== undefined && { model }),
      ...(entityId !== undefined && { entity_id: entityId }),
      ...(cursor !== undefined && { cursor }),
    }
    return client.peek().channel.history(body, signal === undefined ? {} : { signal })
  }
  return readPages(page, PAGES_MAX)
}

/** The newest entries of the feed within a span that ends now. */
export const readNewestFeed = (
  channelId: string,
  { spanMs, wanted, ...about }: Omit<Wanted, 'sinceMs'> & { spanMs: number; wanted: number },
): Promise<Read<FeedRecord>> =>
  readNewest((sinceMs) => readFeed(channelId, { ...about, sinceMs }), {
    spanMs,
    presentMs: nowMs(),
    wanted,
  })

/** The newest entries of the feed behind a seq, at most `count`: what lies between is left out. */
export async function readTail(
  channelId: string,
  { afterSeq, count, signal }: { afterSeq: number; count: number; signal: AbortSignal },
): Promise<readonly FeedRecord[]> {
  const { channel } = client.peek()
  const reader = readerOf(channelId)
  const { head_seq: head } = await channel.info(reader, { signal })
  const from = Math.max(afterSeq, head - count)
  if (from >= head) return []
  return (await channel.history({ ...reader, after_seq: from, limit: count }, { signal })).items
}

/** Takes how the channel shows its attrs, or sets what people say of it. */
async function present(channel: LiveChannel, presentation?: Presentation): Promise<void> {
  const body = { ...readerOf(channel.id), ...(presentation !== undefined && { presentation }) }
  const answer = await client.peek().channel.presentation(body)
  channel.presentation.value = answer.presentation
  channel.isDiscovered = answer.discovered === true
}

/** What people say of how the channel shows its attrs, without what its devices say. */
export const ownOf = ({ presentation, isDiscovered }: LiveChannel): Presentation =>
  presentation.value.slice(isDiscovered ? 1 : 0)

/** Changes what people say. It is read anew first: others may have changed it. */
export async function changePresentation(
  channel: LiveChannel,
  change: (own: Presentation) => Presentation,
): Promise<void> {
  await present(channel)
  await present(channel, change(ownOf(channel)))
}

/** Reads open Events, the newest closed ones, and the newest Messages. */
export async function loadChannel(channel: LiveChannel): Promise<void> {
  // A gateway that keeps no presentation shows attrs by their names.
  void present(channel).catch(() => undefined)
  await loadEvents(channel, 'open', PAGES_MAX)
  await loadEvents(channel, 'closed', 1)
  const events = { model: 'event', spanMs: MONTH_MS, wanted: EVENTS_WANTED } as const
  channel.addBeginnings((await readNewestFeed(channel.id, events)).items)
  const messages = { model: 'message', spanMs: MONTH_MS, wanted: MESSAGES_WANTED } as const
  const { items } = await readNewestFeed(channel.id, messages)
  channel.addMessages(items.map(messageFrom))
}

async function loadEvents(
  channel: LiveChannel,
  state: 'open' | 'closed',
  pages: number,
): Promise<void> {
  const page = async (cursor: string | undefined) => {
    const body = { ...readerOf(channel.id), state, limit: PAGE }
    const answer = await client
      .peek()
      .event.list({ ...body, ...(cursor !== undefined && { cursor }) })
    channel.addEvents(answer.items)
    return answer
  }
  await readPages(page, pages)
}

/** Takes the newest Events of a Thing, for the marks of its charts. */
export async function loadEventsOf(
  channel: LiveChannel,
  thingId: string,
  signal: AbortSignal,
): Promise<void> {
  const body = { ...readerOf(channel.id), thing_id: thingId, limit: PAGE }
  channel.addEvents((await client.peek().event.list(body, { signal })).items)
}
