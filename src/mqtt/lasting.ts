// Bounds what is kept of a client for as long as its connection lives.
//
// Invariants:
//   lasting/1. A CONNECT with its will counts before anything of it is kept, and so do all topics
//              for which its client may set aliases: there is room for them, or the client is told
//              of no aliases, or is sent away.

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { Slots } from '#domain/bounds/slots'
import type { Slot, SlotBounds } from '#domain/bounds/slots'
import { TOPIC_ALIAS_MAX } from './bounds.ts'
import type { Opening } from './connect.ts'
import { TOPIC_BYTES_MAX } from './devices/topic.ts'

/** In bytes. */
const LASTING: SlotBounds = { perAddress: 32 * 2 ** 20, total: 128 * 2 ** 20 }
/** A topic within the bounds, as a text that stands in a map. */
const ALIAS_BYTES = TOPIC_BYTES_MAX + 64

export interface Kept extends Slot {
  /** Topic aliases that the client may set. */
  readonly aliasMax: number
}

export class Lasting {
  readonly #slots = new Slots(LASTING)

  /** Bytes of all clients. */
  get bytes(): number {
    return this.#slots.taken
  }

  /** Takes room for a CONNECT of so many bytes, or says why there is none. (lasting/1) */
  keep({ level }: Opening, bytes: number, address: string): Kept | Fault {
    const withAliases = bytes + TOPIC_ALIAS_MAX * ALIAS_BYTES
    const slot = level === 5 ? this.#slots.take(address, withAliases) : 'server_busy'
    if (typeof slot !== 'string') return { aliasMax: TOPIC_ALIAS_MAX, release: released(slot) }
    const plain = this.#slots.take(address, bytes)
    if (typeof plain === 'string') return fault(plain)
    return { aliasMax: 0, release: released(plain) }
  }
}

const released = (slot: Slot) => (): void => slot.release()
