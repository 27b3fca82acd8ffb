// The port of the store for the mappings of channels: what topics of their own become.

import type { ChannelId } from '#domain/identity'

/** A topic that nothing maps, with the time of its newest publish in Unix milliseconds. */
export interface UnmappedTopic {
  readonly topic: string
  readonly at: number
}

/** Topics of one channel that nothing maps. */
export interface UnmappedTopics {
  readonly channelId: ChannelId
  readonly topics: readonly UnmappedTopic[]
}

/** Unmapped topics that a channel keeps. */
export const UNMAPPED_MAX = 10

export interface KeptMappings {
  /** As `put` had them. */
  readonly mappings: string
  /** The newest first. */
  readonly unmapped: readonly UnmappedTopic[]
}

export interface MappingStore {
  /** Returns the mappings of a channel; undefined when it has none or does not exist. */
  find(channelId: ChannelId): Promise<KeptMappings | undefined>
  /** Keeps the text in place of the one before; false for no such channel. */
  put(channelId: ChannelId, mappings: string): Promise<boolean>
  /** Keeps the newest UNMAPPED_MAX of these topics and those that the channels have. */
  note(noted: readonly UnmappedTopics[]): Promise<void>
}

/** The newest of some unmapped topics, each once, the newest first. */
export function newestOf(topics: readonly UnmappedTopic[]): readonly UnmappedTopic[] {
  const byTopic = new Map<string, UnmappedTopic>()
  for (const one of topics.toSorted((a, b) => b.at - a.at)) {
    if (!byTopic.has(one.topic)) byTopic.set(one.topic, one)
  }
  return [...byTopic.values()].slice(0, UNMAPPED_MAX)
}
