// Keeps the sessions of this process that listen to each channel. The first session of a channel
// makes the process listen on the bus; the end of the last one makes it stop.
//
// Invariants:
//   channel-listeners/1. Each entry is encoded once for all sessions of a channel, which share the
//     text.
//   channel-listeners/2. The process remembers the highest seq announced since it listens: that
//     corrects positions that sessions read while an announcement arrived.
//   channel-listeners/3. An announcement names its head, also when its entries had no room:
//     sessions then read the feed at once, and do not wait for the next entry or the next check.
//   channel-listeners/4. Where several sessions share a channel, a session whose window was full
//     gets the skipped entries from memory, as the same text. It gets older entries from the feed.

import type { Announcement, FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Bus } from '#domain/ports'
import { encodeDelivery } from '#src/schemas/frames'
import { RecentFrames } from './recent-frames.ts'
import type { Frame, FramePage, News, PageRequest } from './signals.ts'

/** Bytes of recent frames that a process keeps: seconds of a busy channel. */
const RECENT_BYTES_MAX = 8 * 2 ** 20

interface ListenedChannel<Member> {
  readonly members: Set<Member>
  readonly stop: () => void
  headSeq: number
}

/** Words an entry for the sessions that share it. */
type MakeFrame = (entry: FeedEntry, mode: 'live' | 'replay') => Frame

export type Tell<Member> = (member: Member, news: News) => void

export class ChannelListeners<Member> {
  readonly #bus: Bus
  readonly #tell: Tell<Member>
  readonly #channels = new Map<ChannelId, ListenedChannel<Member>>()
  readonly #recent = new RecentFrames(RECENT_BYTES_MAX)
  readonly #make: MakeFrame

  /** `make` words the entries for these sessions; the frames of `heliograph.v1` by default. */
  constructor(bus: Bus, tell: Tell<Member>, make: MakeFrame = frameOf) {
    this.#bus = bus
    this.#tell = tell
    this.#make = make
  }

  /** Bytes of the recent frames, which sessions get that are a little behind. */
  get recentBytes(): number {
    return this.#recent.bytes
  }

  join(channelId: ChannelId, member: Member): void {
    const channel = this.#channels.get(channelId)
    if (channel !== undefined) {
      channel.members.add(member)
      return
    }
    const stop = this.#bus.listen(channelId, (announcement) => this.#announced(announcement))
    this.#channels.set(channelId, { members: new Set([member]), stop, headSeq: 0 })
  }

  leave(channelId: ChannelId, member: Member): void {
    const channel = this.#channels.get(channelId)
    if (channel === undefined || !channel.members.delete(member) || channel.members.size > 0) return
    this.#channels.delete(channelId)
    channel.stop()
  }

  membersOf(channelId: ChannelId): readonly Member[] {
    return [...(this.#channels.get(channelId)?.members ?? [])]
  }

  /** Every member of some of the channels, once. */
  membersAmong(isMeant: (channelId: ChannelId) => boolean): ReadonlySet<Member> {
    const found = new Set<Member>()
    for (const [channelId, { members }] of this.#channels) {
      if (isMeant(channelId)) for (const member of members) found.add(member)
    }
    return found
  }

  /** Resolves once the bus delivers every later announcement. */
  settled(): Promise<void> {
    return this.#bus.flush()
  }

  /** The highest announced seq of a channel; 0 before any. (channel-listeners/2) */
  headOf(channelId: ChannelId): number {
    return this.#channels.get(channelId)?.headSeq ?? 0
  }

  /**
   * Pages for the first requests, up to the first one that recent frames cannot serve. For entries
   * from before a session the feed is better: it gives each changed Thing once, not each update.
   * (channel-listeners/4)
   */
  recentPages(requests: readonly PageRequest[]): readonly FramePage[] {
    const pages: FramePage[] = []
    for (const { channelId, afterSeq, removedTo, hasEveryChange, limit } of requests) {
      const frames = hasEveryChange ? this.#recent.after(channelId, afterSeq, limit) : []
      if (frames.length === 0) break
      const headSeq = this.headOf(channelId)
      const complete = frames.at(-1)?.seq === headSeq
      const ofStretch = { frames, headSeq, complete, isEachEntry: true } as const
      pages.push({ ...ofStretch, ...(removedTo !== undefined && { removedTo }) })
    }
    return pages
  }

  #announced(announcement: Announcement): void {
    const channel = this.#channels.get(announcement.channelId)
    if (channel === undefined) return
    const news = newsOf(announcement, this.#make) // channel-listeners/1
    channel.headSeq = Math.max(channel.headSeq, news.headSeq) // channel-listeners/2
    if (channel.members.size > 1) this.#recent.add(news.channelId, news.frames)
    // A member may leave while it gets the news: a Set allows removal during iteration.
    for (const member of channel.members) this.#tell(member, news)
  }
}

/** The news that members get of an announcement. */
export const newsOf = (
  { channelId, entries, headSeq = 0 }: Announcement,
  make: MakeFrame = frameOf,
): News => ({
  channelId,
  frames: entries.map((entry) => make(entry, 'live')),
  headSeq: Math.max(headSeq, entries.at(-1)?.seq ?? 0), // channel-listeners/3
})

export function frameOf(entry: FeedEntry, mode: 'live' | 'replay'): Frame {
  const text = encodeDelivery(entry, mode)
  return { seq: entry.seq, text, bytes: Buffer.byteLength(text), mode }
}
