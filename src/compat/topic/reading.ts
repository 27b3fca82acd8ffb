// Entries that a subscriber of the topic style has yet to see, from the place at which it begins:
// of one channel, or of several in the order of their times.

import type { ChannelInfo } from '#domain/channel'
import type { Event } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { FeedFollowing } from '#src/acceptance/feed-following'
import { messageIdOf, needsEvent } from './messages.ts'
import type { Since } from './subscription.ts'
import type { Topic } from './channels.ts'

/** The part of one channel that a subscriber still wants. */
export interface Place {
  readonly topic: Topic
  readonly sinceMs: number | undefined
  afterSeq: number
}

/** An entry of a Message or an Event, and the topic that it came to. */
export interface Read {
  readonly topic: Topic
  readonly entry: FeedEntry
  /** The present Event, for an entry that leaves its title or its severity to it. */
  readonly event?: Event | undefined
}

/** Updates of Things are no messages: a busy one costs a subscriber nothing. */
const MODELS = ['message', 'event'] as const

const PAGE = 200
/** Bytes of messages after which they go out, however few they are. */
const PAGE_BYTES = 65_536

/** Returns the place in a topic at which a subscriber begins. */
export async function placeOf(
  following: FeedFollowing,
  topic: Topic,
  since: Since,
): Promise<Place> {
  const { afterSeq, sinceMs } = await startOf(following, topic.info, since)
  return { topic, afterSeq, sinceMs }
}

/** Everything behind the places, in pages; moves the places. */
export async function* readOn(
  following: FeedFollowing,
  places: readonly Place[],
): AsyncGenerator<readonly Read[]> {
  const sources = places.map((place) => new Source(following, place))
  await Promise.all(sources.map((source) => source.fill()))
  let page: Read[] = []
  let bytes = 0
  for (let source = earliestOf(sources); source !== undefined; source = earliestOf(sources)) {
    const read = source.take()
    page.push(read)
    bytes += read.entry.payload.length
    if (source.next === undefined) await source.fill()
    if (page.length < PAGE && bytes < PAGE_BYTES) continue
    yield await withEvents(following, page)
    page = []
    bytes = 0
  }
  if (page.length > 0) yield await withEvents(following, page)
}

/** Reads the Events that a page needs, each once and one by one. */
async function withEvents(following: FeedFollowing, page: Read[]): Promise<readonly Read[]> {
  const events = new Map<string, Event | undefined>()
  for (const { entry } of page.filter((read) => needsEvent(read.entry))) {
    const key = eventKeyOf(entry)
    if (!events.has(key)) {
      events.set(key, await following.event(entry.channelId, entry.entityId))
    }
  }
  return page.map((read) => ({ ...read, event: events.get(eventKeyOf(read.entry)) }))
}

const eventKeyOf = ({ channelId, entityId }: FeedEntry): string => `${channelId} ${entityId}`

function earliestOf(sources: readonly Source[]): Source | undefined {
  let earliest: Source | undefined
  for (const source of sources) {
    const at = source.next?.acceptedAt
    if (at !== undefined && at < (earliest?.next?.acceptedAt ?? Infinity)) earliest = source
  }
  return earliest
}

/** The Messages and Events of one channel, page by page. */
class Source {
  readonly #following: FeedFollowing
  readonly #place: Place
  #entries: readonly FeedEntry[] = []
  #at = 0
  /** The start of the next page; undefined when there is none. */
  #cursor: number | undefined

  constructor(following: FeedFollowing, place: Place) {
    this.#following = following
    this.#place = place
    this.#cursor = place.afterSeq
  }

  /** The entry that comes next, once there is one in the page. */
  get next(): FeedEntry | undefined {
    return this.#entries[this.#at]
  }

  /** Reads on until there is an entry or nothing is left. */
  async fill(): Promise<void> {
    const { topic, sinceMs } = this.#place
    while (this.next === undefined && this.#cursor !== undefined) {
      const { channelId } = topic.info
      const query = { channelId, afterSeq: this.#cursor, models: MODELS, limit: PAGE }
      const page = await this.#following.page(sinceMs === undefined ? query : { ...query, sinceMs })
      this.#entries = page.items
      this.#at = 0
      this.#cursor = page.next
    }
  }

  /** The next entry; the place moves behind it. */
  take(): Read {
    const entry = this.next
    if (entry === undefined) throw new Error('nothing was read')
    this.#at += 1
    this.#place.afterSeq = entry.seq
    return { topic: this.#place.topic, entry }
  }
}

interface Start {
  readonly afterSeq: number
  readonly sinceMs?: number
}

/** Entries among which the last message, or one with a given id, is searched. */
const LOOKED_BACK_MAX = 10_000

/** The place behind which the subscriber reads; the beginning for an unknown id. */
async function startOf(
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
    const page = await following.page({ channelId, afterSeq: next, models: MODELS, limit: PAGE })
    for (const entry of page.items) {
      if (since.kind === 'id' && messageIdOf(entry) === since.id) return { afterSeq: entry.seq }
      last = entry.seq
    }
    next = page.next
  }
  if (since.kind === 'id') return { afterSeq: 0 }
  return { afterSeq: last === undefined ? headSeq : last - 1 }
}
