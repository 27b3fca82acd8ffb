// Items by id that are kept within a bound in bytes, the least recently used first.
//
// Invariants:
//   bounded-items/1. `bytes` is the sum of the bytes of the items that are kept.
//   bounded-items/2. Beyond a bound the items that were used longest ago go first, and no more of
//                    them than have to.

/** An item, and the bytes that it takes. */
interface Sized<Item> {
  readonly item: Item
  readonly bytes: number
}

export class BoundedItems<Item> {
  readonly #items = new Map<string, Sized<Item>>()
  #bytes = 0

  get size(): number {
    return this.#items.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns an item, without a use of it. */
  get(id: string): Item | undefined {
    return this.#items.get(id)?.item
  }

  has(id: string): boolean {
    return this.#items.has(id)
  }

  keys(): Iterable<string> {
    return this.#items.keys()
  }

  *entries(): Iterable<readonly [id: string, item: Item]> {
    for (const [id, { item }] of this.#items) yield [id, item]
  }

  /** Returns an item, which is the most recently used one then. */
  use(id: string): Item | undefined {
    const kept = this.#items.get(id)
    if (kept === undefined) return undefined
    this.#items.delete(id)
    this.#items.set(id, kept) // bounded-items/2
    return kept.item
  }

  /** Keeps an item of so many bytes as the most recently used one, in place of that of its id. */
  keep(id: string, item: Item, bytes: number): void {
    this.delete(id)
    this.#items.set(id, { item, bytes })
    this.#bytes += bytes // bounded-items/1
  }

  delete(id: string): void {
    const kept = this.#items.get(id)
    if (kept === undefined) return
    this.#items.delete(id)
    this.#bytes -= kept.bytes // bounded-items/1
  }

  clear(): void {
    this.#items.clear()
    this.#bytes = 0
  }

  /**
   * Deletes the least recently used beyond so many bytes. `remove` deletes one, and what goes with
   * it.
   */
  keepWithin(bytesMax: number, remove = (id: string): void => this.delete(id)): void {
    if (this.#bytes <= bytesMax) return
    for (const id of this.#items.keys()) {
      if (this.#bytes <= bytesMax) return // bounded-items/2
      remove(id)
    }
  }
}
