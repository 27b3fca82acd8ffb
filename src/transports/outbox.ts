// Gathers what a connection sends, texts or packets, and writes it to its carrier together.
//
// Invariants:
//   outbox/1. What one pass of the event loop adds goes to the carrier in one write, not one for
//     each changed channel. What waits is bounded and keeps its order.

import { WINDOW_ENTRIES_MAX } from './signals.ts'

/** Items that may wait for the end of a pass; at this number the outbox writes all at once. */
const WAITING_MAX = WINDOW_ENTRIES_MAX

export interface Writer<Item> {
  /** Takes items in their order; never throws. */
  write(items: readonly Item[]): void
}

export class Outbox<Item> {
  readonly #writer: Writer<Item>
  readonly #soon: (task: () => void) => void
  /** Undefined while nothing waits. */
  #items: Item[] | undefined
  #isDue = false

  /** `soon` runs a task at the end of the pass. */
  constructor(writer: Writer<Item>, soon: (task: () => void) => void) {
    this.#writer = writer
    this.#soon = soon
  }

  /** Adds an item. A call of `flushSoon` or `flush` must follow. */
  add(item: Item): void {
    this.#items ??= []
    this.#items.push(item)
  }

  /** Writes what waits at the end of this pass, or now when it is much. */
  flushSoon(): void {
    if (this.#items === undefined) return
    if (this.#items.length >= WAITING_MAX) this.flush()
    else if (!this.#isDue) {
      this.#isDue = true
      this.#soon(() => {
        this.#isDue = false
        this.flush()
      })
    }
  }

  /** Writes what waits now. */
  flush(): void {
    if (this.#items === undefined) return
    const items = this.#items
    this.#items = undefined
    this.#writer.write(items)
  }
}
