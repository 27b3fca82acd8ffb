// The page of a query: the first Things of its order, among those that it is offered in any order.
//
// Invariants:
//   query-page/1. A page holds at most so many Things, and at most PAGE_BYTES_MAX of their
//     documents unless it holds one. Each Thing that it gave up stands behind all that it has:
//     the page is therefore exactly the beginning of the order that fits.

import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { ScannedThing } from '#domain/things/scan'
import { compare } from './order.ts'
import type { Key } from '#domain/things/cursor'

interface Held {
  readonly key: Key
  readonly thing: ScannedThing
}

export class TopThings {
  readonly #limit: number
  readonly #isDescending: boolean
  /** In their order. */
  readonly #held: Held[] = []
  #bytes = 0
  #isFull = false

  constructor(limit: number, isDescending: boolean) {
    this.#limit = limit
    this.#isDescending = isDescending
  }

  /** True once it gave a Thing up: the order goes on behind it. */
  get isFull(): boolean {
    return this.#isFull
  }

  get things(): readonly ScannedThing[] {
    return this.#held.map(({ thing }) => thing)
  }

  get lastKey(): Key | undefined {
    return this.#held.at(-1)?.key
  }

  offer(key: Key, thing: ScannedThing): void {
    const last = this.#held.at(-1)
    if (this.#isFull && last !== undefined && this.#compare(key, last.key) > 0) return
    this.#held.splice(this.#placeOf(key), 0, { key, thing })
    this.#bytes += sizeOf(thing)
    while (this.#isTooMuch) {
      this.#bytes -= sizeOf(this.#held.pop()?.thing)
      this.#isFull = true
    }
  }

  /** query-page/1 */
  get #isTooMuch(): boolean {
    const { length } = this.#held
    return length > this.#limit || (length > 1 && this.#bytes > PAGE_BYTES_MAX)
  }

  #placeOf(key: Key): number {
    let low = 0
    let high = this.#held.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const held = this.#held[middle]
      if (held !== undefined && this.#compare(held.key, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #compare(one: Key, other: Key): number {
    return compare(one, other, this.#isDescending)
  }
}

/** What the rest of an item takes, as a page of a list counts it. */
const ENVELOPE_BYTES = 400

const sizeOf = (thing: ScannedThing | undefined): number =>
  thing === undefined ? 0 : thing.bytes + ENVELOPE_BYTES
