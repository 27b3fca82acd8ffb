// The mappings of a channel: its own words for what publishes to other topics become. The ways
// in over MQTT read publishes by them. (Specification: MQTT, Devices as they are)
//
// Invariants:
//   mappings/1. Once a change is answered this process reads publishes by it, and a notice to every
//               other process is on its way.
//   unmapped-topics/1. Topics that nothing maps are written together, some seconds apart, and no
//                      publish waits for them. What waits is bounded: others are left out.

import { keepNewest } from '#domain/bounds/newest'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { UnmappedTopic } from '#domain/mqtt/mappings'
import { UNMAPPED_MAX } from '#domain/mqtt/mappings'
import type { Answer } from '#domain/ports'
import type { Caller } from '#src/acceptance/caller'
import { KnownMappings } from './known-mappings.ts'
import { mappingsIn, textOf } from '#src/schemas/mappings/mapping'
import type { Mapping } from '#src/schemas/mappings/mapping'
import { MAPPINGS } from '#src/schemas/mappings/mapping-routes'
import type { ChannelMappings } from '#src/schemas/mappings/mapping-routes'
import { readersOf } from '#src/schemas/shape'
import type { Stage } from '#src/acceptance/stage'

const READ = readersOf(MAPPINGS)

export class Mappings {
  readonly #ports: Stage
  readonly #known: KnownMappings
  readonly #unmapped: UnmappedNotes

  constructor(ports: Stage) {
    this.#ports = ports
    this.#known = new KnownMappings(ports)
    this.#unmapped = new UnmappedNotes(ports)
  }

  /** The mappings by which publishes of a channel are read. No promise when they are known. */
  of(channelId: ChannelId): readonly Mapping[] | Promise<readonly Mapping[]> {
    return this.#known.of(channelId)
  }

  /** Notes that nothing takes a topic, at a time in Unix milliseconds. */
  unmapped(channelId: ChannelId, topic: string, at: number): void {
    this.#unmapped.note(channelId, topic, at)
  }

  /** Replaces the mappings when the request has some; gives those of the channel. */
  async use(fields: unknown, caller: Caller): Promise<Answer<ChannelMappings>> {
    const { access, mappings } = this.#ports
    const ask = { fields, caller, read: READ.use }
    const request = await access.openSetting(ask, (sent) => sent.mappings !== undefined)
    if (isFault(request)) return request
    const { channelId } = request
    if (request.mappings !== undefined) {
      const isPut = await this.#put(channelId, textOf(request.mappings))
      if (!isPut) return fault('channel_not_found')
    }
    await this.#unmapped.write()
    const kept = await mappings.find(channelId)
    const present = mappingsIn(kept?.mappings ?? '[]')
    const isMapped = (topic: string): boolean =>
      present.some(({ pattern }) => pattern.match(topic.split('/')) !== undefined)
    const rest = kept?.unmapped.filter(({ topic }) => !isMapped(topic)) ?? []
    return { channelId, mappings: present, unmapped: rest }
  }

  /** Reads the mappings of a channel anew if they are in use here. */
  changed(channelId: ChannelId): Promise<void> {
    return this.#known.changed(channelId)
  }

  /** Compares all mappings with the store again. Called when notices may have been lost. */
  recheck(): void {
    this.#known.recheck()
  }

  /** Writes the unmapped topics that wait. */
  write(): Promise<void> {
    return this.#unmapped.write()
  }

  /** The channels whose mappings are in memory. */
  size(): number {
    return this.#known.size()
  }

  /** An estimate of the bytes that they take. */
  bytes(): number {
    return this.#known.bytes()
  }

  async #put(channelId: ChannelId, text: string): Promise<boolean> {
    const { mappings, bus } = this.#ports
    try {
      return await mappings.put(channelId, text)
    } finally {
      // Also without an outcome, with which it may have been made. (mappings/1)
      bus.notify({ kind: 'mappings-changed', channelId })
      await this.changed(channelId)
    }
  }
}

const WRITE_AFTER_MS = 10_000
/** Channels of one write, each with UNMAPPED_MAX topics. */
const CHANNELS_MAX = 200

/** Notes the topics that nothing maps, for the owners of their channels. */
export class UnmappedNotes {
  readonly #ports: Pick<Stage, 'mappings' | 'timers'>
  #waiting = new Map<ChannelId, Map<string, UnmappedTopic>>()
  #isTimed = false

  constructor(ports: Pick<Stage, 'mappings' | 'timers'>) {
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
    keepNewest(topics, UNMAPPED_MAX)
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
