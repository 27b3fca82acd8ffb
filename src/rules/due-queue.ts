// Items by the time at which they are due, as a binary heap.
//
// Invariants:
//   due-queue/1. The earliest item comes first, and of those due at one time the one that was added
//     first. Adding and taking cost the logarithm of the number of items.

interface Waiting<Item> {
  readonly due: number
  /** The number of the addition. */
  readonly order: number
  readonly item: Item
}

export class DueQueue<Item> {
  /** Each item is due no later than those at twice its place plus 1 and plus 2. */
  readonly #heap: Waiting<Item>[] = []
  #added = 0

  get size(): number {
    return this.#heap.length
  }

  add(due: number, item: Item): void {
    const added = { due, order: (this.#added += 1), item }
    let place = this.#heap.push(added) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = this.#heap[above]
      if (parent === undefined || isBefore(parent, added)) break
      this.#heap[place] = parent
      place = above
    }
    this.#heap[place] = added
  }

  /** Takes the first item that is due by a time; undefined without one. */
  take(by: number): { readonly due: number; readonly item: Item } | undefined {
    const [first] = this.#heap
    if (first === undefined || first.due > by) return undefined
    const last = this.#heap.pop()
    if (last !== undefined && last !== first) this.#sink(last)
    return first
  }

  /** Puts an item into the first place, or where it belongs below it. */
  #sink(item: Waiting<Item>): void {
    let place = 0
    for (;;) {
      const left = this.#heap[2 * place + 1]
      const right = this.#heap[2 * place + 2]
      const isRight = left !== undefined && right !== undefined && isBefore(right, left)
      const next = isRight ? right : left
      if (next === undefined || isBefore(item, next)) break
      this.#heap[place] = next
      place = 2 * place + (isRight ? 2 : 1)
    }
    this.#heap[place] = item
  }
}

const isBefore = <Item>(one: Waiting<Item>, other: Waiting<Item>): boolean =>
  one.due < other.due || (one.due === other.due && one.order < other.order)
