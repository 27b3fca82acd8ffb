// Notes the topics that nothing maps, for the owners of their channels.
//
// Invariants:
//   unmapped-topics/1. Topics are written together, some seconds apart, and no publish waits for
//                      them. What waits is bounded: others are left out.

import type { ChannelId } from '#domain/identity'
import { UNMAPPED_MAX } from '#domain/mqtt/mappings'
import type { MappingStore, UnmappedTopic } from '#domain/mqtt/mappings'
import type { Timers } from '#domain/ports'

export interface UnmappedTopicPorts {
  readonly mappings: Pick<MappingStore, 'note'>
  readonly timers: Timers
}

const WRITE_AFTER_MS = 10_000
/** Channels of one write, each with UNMAPPED_MAX topics. */
const CHANNELS_MAX = 200

export class UnmappedNotes {
  readonly #ports: UnmappedTopicPorts
  #waiting = new Map<ChannelId, Map<string, UnmappedTopic>>()
  #isTimed = false

  constructor(ports: UnmappedTopicPorts) {
    this.#ports = ports
  }

  /** Notes that a topic without a mapping was published to, at a time in Unix milliseconds. */
  note(channelId: ChannelId, topic: string, at: number): void {
    const topics = this.#waiting.get(channelId) ?? new Map<string, UnmappedTopic>()
    if (topics.size === 0) {
      if (this.#waiting.size >= CHANNELS_MAX) return // unmapped-topics/1
      this.#waiting.set(channelId, topics)
    }
    topics.delete(topic)
    topics.set(topic, { topic, at })
    const [oldest] = topics.keys()
    if (topics.size > UNMAPPED_MAX && oldest !== undefined) topics.delete(oldest)
    if (this.#isTimed) return
    this.#isTimed = true
    this.#ports.timers.after(WRITE_AFTER_MS, () => void this.write())
  }

  /** Writes what waits. What the store cannot take is left out. */
  async write(): Promise<void> {
    this.#isTimed = false
    const waiting = this.#waiting
    this.#waiting = new Map()
    if (waiting.size === 0) return
    const noted = [...waiting].map(([channelId, topics]) => ({
      channelId,
      topics: [...topics.values()],
    }))
    await this.#ports.mappings.note(noted).catch(() => undefined)
  }
}
