// The mappings of channels: read once on each node, then from memory.
//
// Invariants:
//   known-mappings/1. A publish is read by the mappings of its channel or waits until they are
//                     known: it is never refused because a read failed.
//   known-mappings/2. Once a change is answered this node uses it; a notice lets every other node
//                     read them anew. What a read found while such a notice came is read again.
//   known-mappings/3. What is kept is compared with the store after COMPARE_AFTER_MS, and when
//                     notices may have been lost, beside its use: a store that is away changes
//                     nothing. What is kept is bounded.

import type { ChannelId } from '#domain/identity'
import type { MappingStore } from '#domain/mqtt/mappings'
import type { Timers } from '#domain/ports'
import { mappingsIn } from '#src/schemas/mappings/mapping'
import type { Mapping } from '#src/schemas/mappings/mapping'

export interface KnownMappingPorts {
  readonly mappings: Pick<MappingStore, 'find'>
  readonly monotonicMs: () => number
  readonly timers: Timers
}

interface Known {
  readonly mappings: readonly Mapping[]
  /** Characters of their stored text. */
  readonly size: number
  compareAt: number
}

interface Reading {
  readonly done: Promise<readonly Mapping[]>
  isStale: boolean
}

const NONE: readonly Mapping[] = []
const KNOWN_MAX = 50_000
/** Characters of stored texts, each of which takes some bytes more once it is compiled. */
const CHARACTERS_MAX = 16 * 2 ** 20
const COMPARE_AFTER_MS = 60_000
const READ_AGAIN_MS = 1_000

export class KnownMappings {
  readonly #ports: KnownMappingPorts
  /** The last read one last. */
  readonly #known = new Map<ChannelId, Known>()
  readonly #reading = new Map<ChannelId, Reading>()
  #characters = 0

  constructor(ports: KnownMappingPorts) {
    this.#ports = ports
  }

  /** The mappings of a channel. No promise when they are known, as for nearly every publish. */
  of(channelId: ChannelId): readonly Mapping[] | Promise<readonly Mapping[]> {
    const known = this.#known.get(channelId)
    if (known === undefined) return this.#read(channelId).done
    const now = this.#ports.monotonicMs()
    if (now >= known.compareAt) {
      known.compareAt = now + COMPARE_AFTER_MS
      void this.#read(channelId) // known-mappings/3
    }
    return known.mappings
  }

  /** Reads the mappings of a channel anew if they are in use here. (known-mappings/2) */
  async changed(channelId: ChannelId): Promise<void> {
    const reading = this.#reading.get(channelId)
    if (reading !== undefined) reading.isStale = true
    if (this.#known.has(channelId)) await this.#read(channelId).done
  }

  /** Compares everything with the store at its next use. (known-mappings/3) */
  recheck(): void {
    for (const reading of this.#reading.values()) reading.isStale = true
    for (const known of this.#known.values()) known.compareAt = 0
  }

  /** The channels in memory. */
  size(): number {
    return this.#known.size
  }

  #read(channelId: ChannelId): Reading {
    const before = this.#reading.get(channelId)
    if (before !== undefined) return before
    const { promise, resolve } = Promise.withResolvers<readonly Mapping[]>()
    const reading = { done: promise, isStale: false }
    this.#reading.set(channelId, reading)
    void this.#readUntilKnown(channelId, reading).then((mappings) => {
      this.#reading.delete(channelId)
      resolve(mappings)
    })
    return reading
  }

  async #readUntilKnown(channelId: ChannelId, reading: Reading): Promise<readonly Mapping[]> {
    for (;;) {
      reading.isStale = false
      const found = await this.#ports.mappings.find(channelId).catch(() => 'away' as const)
      if (found === 'away') {
        const known = this.#known.get(channelId)
        if (known === undefined) {
          await this.#pause() // known-mappings/1
          continue
        }
        known.compareAt = this.#ports.monotonicMs() + READ_AGAIN_MS
        return known.mappings // known-mappings/3
      }
      if (!reading.isStale) return this.#keep(channelId, found?.mappings ?? '')
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#ports.timers.after(READ_AGAIN_MS, resolve))
  }

  #keep(channelId: ChannelId, text: string): readonly Mapping[] {
    this.#drop(channelId)
    const mappings = text === '' ? NONE : mappingsIn(text)
    const compareAt = this.#ports.monotonicMs() + COMPARE_AFTER_MS
    this.#known.set(channelId, { mappings, size: text.length, compareAt })
    this.#characters += text.length
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_MAX && this.#characters <= CHARACTERS_MAX) break
      this.#drop(oldest)
    }
    return mappings
  }

  #drop(channelId: ChannelId): void {
    this.#characters -= this.#known.get(channelId)?.size ?? 0
    this.#known.delete(channelId)
  }
}
