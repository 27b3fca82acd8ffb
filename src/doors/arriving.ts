// Counts what peers have sent of messages that are not whole.
//
// Invariants:
//   arriving/1. The memory of unfinished messages is bounded in total and by address; a peer that
//               finds no room is sent away.

import { Slots } from '#domain/bounds/slots'
import type { Slot, SlotBounds, SlotRefusal } from '#domain/bounds/slots'

/** Bytes of unfinished messages at one door. */
const ARRIVING: SlotBounds = { perAddress: 16 * 2 ** 20, total: 64 * 2 ** 20 }

export class Arriving {
  readonly #slots: Slots

  constructor(bounds: SlotBounds = ARRIVING) {
    this.#slots = new Slots(bounds)
  }

  /** Bytes of all peers. */
  get bytes(): number {
    return this.#slots.taken
  }

  /** Opens the share of a peer. */
  open(address: string): Share {
    return new Share(this.#slots, address)
  }
}

/** The bytes of one peer. */
export class Share {
  readonly #slots: Slots
  readonly #address: string
  #slot: Slot | undefined
  #bytes = 0

  constructor(slots: Slots, address: string) {
    this.#slots = slots
    this.#address = address
  }

  /** States what the peer's unfinished message holds now; a refusal when there is no room. */
  holds(bytes: number): SlotRefusal | undefined {
    if (bytes === this.#bytes) return undefined
    this.#slot?.release()
    const slot = bytes === 0 ? undefined : this.#slots.take(this.#address, bytes)
    const isRefused = typeof slot === 'string' // arriving/1
    this.#slot = isRefused ? undefined : slot
    this.#bytes = isRefused ? 0 : bytes
    return isRefused ? slot : undefined
  }
}
