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

import { BoundedItems } from '#domain/bounds/bounded-items'
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
  compareAt: number
}

interface Reading {
  readonly done: Promise<readonly Mapping[]>
  isStale: boolean
}

const NONE: readonly Mapping[] = []
export const KNOWN_BYTES_MAX = 32 * 2 ** 20
/** A channel takes so many bytes of memory, and each character of its mappings more. */
const CHANNEL_BYTES = 300
export const CHARACTER_BYTES = 18
const COMPARE_AFTER_MS = 60_000
const READ_AGAIN_MS = 1_000

export class KnownMappings {
  readonly #ports: KnownMappingPorts
  readonly #known = new BoundedItems<Known>()
  readonly #reading = new Map<ChannelId, Reading>()

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
    for (const [, known] of this.#known.entries()) known.compareAt = 0
  }

  /** The channels in memory. */
  size(): number {
    return this.#known.size
  }

  /** An estimate of the bytes that they take. */
  bytes(): number {
    return this.#known.bytes
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
    const mappings = text === '' ? NONE : mappingsIn(text)
    const compareAt = this.#ports.monotonicMs() + COMPARE_AFTER_MS
    const bytes = CHANNEL_BYTES + text.length * CHARACTER_BYTES
    this.#known.keep(channelId, { mappings, compareAt }, bytes)
    this.#known.keepWithin(KNOWN_BYTES_MAX) // known-mappings/3
    return mappings
  }
}
