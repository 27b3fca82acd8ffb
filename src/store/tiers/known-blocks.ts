// Which Things have updates in the blocks that are not joined, as far as this process read them.
//
// A series of one Thing needs few of some thousand blocks. To look through one takes the time of
// twenty updates, so each is looked through once, for whoever asks later.
//
// Invariants:
//   known-blocks/1. A block that has an update of a Thing may have it. While a block is not joined
//     its number means one content for ever. (update-numbers/1, joining/1)
//   known-blocks/2. What is known is bounded in bytes: the block that was used longest ago is
//     looked through again. (W7)

import { BoundedItems } from '#domain/bounds/bounded-items'
import { hashOf } from '#domain/identity'
import type { Meter } from '#domain/telemetry'

/** Ten reads of as many blocks as one takes. */
export const KNOWN_BYTES_MAX = 8 * 2 ** 20
/** A block takes these bytes, and those for each update. */
const BLOCK_BYTES = 256
const UPDATE_BYTES = 4

export class KnownBlocks {
  /** The hashes of the Things of each block. */
  readonly #blocks = new BoundedItems<Uint32Array>()

  constructor(meter: Meter) {
    meter.gauge('known_blocks', {}, () => this.#blocks.size)
  }

  /** True unless a block that was looked through has no Thing with this hash. (known-blocks/1) */
  mayHave(block: number, thing: number): boolean {
    return this.#blocks.use(String(block))?.includes(thing) !== false
  }

  /** Remembers the Things of a block that is looked through. */
  learn(block: number, things: readonly string[]): void {
    const hashes = Uint32Array.from(things, hashOf)
    this.#blocks.keep(String(block), hashes, BLOCK_BYTES + things.length * UPDATE_BYTES)
    this.#blocks.keepWithin(KNOWN_BYTES_MAX) // known-blocks/2
  }
}
