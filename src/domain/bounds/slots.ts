// Bounds what callers hold at a time, in total and from one address.
//
// Invariants:
//   slots/1. What is taken counts in the total and for its address until it is released, once; an
//            address that holds nothing uses no memory.

import { hostOf } from '#domain/host'

export interface SlotBounds {
  readonly total: number
  readonly perAddress: number
}

export interface Slot {
  /** Frees the slot; only the first call counts. */
  release(): void
}

/** The bound that is reached: the total, or that of the address. */
export type SlotRefusal = 'server_busy' | 'rate_limited'

export class Slots {
  readonly #bounds: SlotBounds
  readonly #byHost = new Map<string, number>()
  #taken = 0

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds
  }

  get taken(): number {
    return this.#taken
  }

  /** Returns the bound that keeps an address from taking `count` more; undefined when none does. */
  refusal(address: string | undefined, count = 1): SlotRefusal | undefined {
    if (this.#taken + count > this.#bounds.total) return 'server_busy'
    if (address === undefined) return undefined
    const held = this.#byHost.get(hostOf(address)) ?? 0
    return held + count > this.#bounds.perAddress ? 'rate_limited' : undefined
  }

  /** Takes `count` for an address, or in total only when it is undefined. */
  take(address: string | undefined, count = 1): Slot | SlotRefusal {
    const refusal = this.refusal(address, count)
    if (refusal !== undefined) return refusal
    const host = address && hostOf(address)
    this.add(host, count)
    return new TakenSlot(this, host, count)
  }

  /** Counts more that a host holds, or less; only a slot calls it. */
  add(host: string | undefined, count: number): void {
    this.#taken += count
    if (host === undefined) return
    const held = (this.#byHost.get(host) ?? 0) + count
    if (held === 0) this.#byHost.delete(host)
    else this.#byHost.set(host, held)
  }
}

/** Thousands of connections hold one each for long: plain members take less than a closure. */
class TakenSlot implements Slot {
  readonly #slots: Slots
  readonly #host: string | undefined
  #count: number

  constructor(slots: Slots, host: string | undefined, count: number) {
    this.#slots = slots
    this.#host = host
    this.#count = count
  }

  release(): void {
    this.#slots.add(this.#host, -this.#count)
    this.#count = 0 // slots/1
  }
}
