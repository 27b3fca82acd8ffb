// Gathers the texts of a session, and writes them to its carrier together.
//
// Invariants:
//   outbox/1. The texts that one pass of the event loop adds go to the carrier in one write, not
//     one for each changed channel. Waiting texts are bounded and keep their order.

import { WINDOW_ENTRIES_MAX } from './signals.ts'

/** Texts that may wait for the end of a pass; at this number the outbox writes all at once. */
const WAITING_MAX = WINDOW_ENTRIES_MAX

export interface Writer {
  /** Takes texts in their order; never throws. */
  write(texts: readonly string[]): void
}

export class Outbox {
  readonly #writer: Writer
  readonly #soon: (task: () => void) => void
  /** Undefined while no text waits. */
  #texts: string[] | undefined
  #isDue = false

  /** `soon` runs a task at the end of the pass. */
  constructor(writer: Writer, soon: (task: () => void) => void) {
    this.#writer = writer
    this.#soon = soon
  }

  /** Adds a text. A call of `flushSoon` or `flush` must follow. */
  add(text: string): void {
    this.#texts ??= []
    this.#texts.push(text)
  }

  /** Writes the waiting texts at the end of this pass, or now when they are many. */
  flushSoon(): void {
    if (this.#texts === undefined) return
    if (this.#texts.length >= WAITING_MAX) this.flush()
    else if (!this.#isDue) {
      this.#isDue = true
      this.#soon(() => {
        this.#isDue = false
        this.flush()
      })
    }
  }

  /** Writes the waiting texts now. */
  flush(): void {
    if (this.#texts === undefined) return
    const texts = this.#texts
    this.#texts = undefined
    this.#writer.write(texts)
  }
}
