// The mappings of channels: read once on each node, then from memory.
//
// Invariants:
//   known-mappings/1. A publish is read by the mappings of its channel or waits until they are
//                     known: it is never refused because a read failed.
//   known-mappings/2. Once a change is answered this node uses it; a notice lets every other node
//                     read them anew. Until they are read, the mappings before stay in force.

import type { ChannelId } from '#domain/identity'
import { isFault } from '#domain/fault'
import type { MappingStore } from '#domain/mqtt/mappings'
import type { Timers } from '#domain/ports'
import { mappingsIn } from '#src/schemas/mappings/mapping'
import type { Mapping } from '#src/schemas/mappings/mapping'
import { KeptAnswers } from '#src/acceptance/kept-answers'
import type { Found, Subject } from '#src/acceptance/kept-answers'

interface KnownMappingPorts {
  readonly mappings: Pick<MappingStore, 'find'>
  readonly monotonicMs: () => number
  readonly timers: Timers
}

interface Known extends Subject {
  readonly mappings: readonly Mapping[]
  /** Characters of the text that they were read from. */
  readonly characters: number
}

const NONE: readonly Mapping[] = []
export const KNOWN_BYTES_MAX = 32 * 2 ** 20
/** A channel takes so many bytes of memory, and each character of its mappings more. */
const CHANNEL_BYTES = 300
export const CHARACTER_BYTES = 18
const READ_AGAIN_MS = 1_000

export class KnownMappings {
  readonly #ports: KnownMappingPorts
  readonly #answers: KeptAnswers<Known, Subject>

  constructor(ports: KnownMappingPorts) {
    this.#ports = ports
    this.#answers = new KeptAnswers({
      read: async (_, { channelId }) => {
        const found = await ports.mappings.find(channelId)
        const { mappings: text = '' } = found ?? {}
        const mappings = text === '' ? NONE : mappingsIn(text)
        return { channelId, mappings, characters: text.length }
      },
      bytesOf: ({ characters }) => CHANNEL_BYTES + characters * CHARACTER_BYTES,
      bytesMax: KNOWN_BYTES_MAX,
      askedMax: Infinity, // One for each channel of a client that has entered.
      pauseMs: READ_AGAIN_MS,
      monotonicMs: ports.monotonicMs,
    })
  }

  /** The mappings of a channel. No promise when they are known, as for nearly every publish. */
  of(channelId: ChannelId): readonly Mapping[] | Promise<readonly Mapping[]> {
    const found = this.#answers.find(channelId, { channelId })
    const isKnown = found !== undefined && 'mappings' in found
    return isKnown ? found.mappings : this.#known(channelId, found)
  }

  /** Reads the mappings of a channel anew if they are in use here. (known-mappings/2) */
  async changed(channelId: ChannelId): Promise<void> {
    const answers = this.#answers
    answers.note({ channelId })
    if (answers.peek(channelId) === undefined) return
    await this.#known(channelId, answers.ask(channelId, { channelId }))
  }

  /** Compares everything with the store beside its next use. */
  recheck(): void {
    this.#answers.recheck()
  }

  /** The channels in memory. */
  size(): number {
    return this.#answers.size
  }

  /** An estimate of the bytes that they take. */
  bytes(): number {
    return this.#answers.bytes
  }

  /** known-mappings/1 */
  async #known(
    channelId: ChannelId,
    asked: Found<Known> | Promise<Found<Known>>,
  ): Promise<readonly Mapping[]> {
    let found = await Promise.resolve(asked).catch(() => undefined)
    while (found === undefined || isFault(found)) {
      await new Promise<void>((resolve) => void this.#ports.timers.after(READ_AGAIN_MS, resolve))
      const again = this.#answers.find(channelId, { channelId })
      found = await Promise.resolve(again).catch(() => undefined)
    }
    return found.mappings
  }
}
