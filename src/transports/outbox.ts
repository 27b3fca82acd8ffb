// The texts that a session has said and its carrier does not have yet.
//
// Invariants:
//   outbox/1. Texts that a session says while the input at hand is read go to its carrier together:
//     one write a round, not one for each changed channel. Waiting texts are bounded, and nothing
//     overtakes them.

import { WINDOW_ENTRIES_MAX } from './signals.ts'

/** Texts that may wait for the end of a round; at this number all are written at once. */
const WAITING_MAX = WINDOW_ENTRIES_MAX

export interface Writer {
  /** Takes texts in the order in which they were said; never throws. */
  write(texts: readonly string[]): void
}

export class Outbox {
  readonly #writer: Writer
  readonly #soon: (task: () => void) => void
  /** Undefined while none wait. */
  #texts: string[] | undefined
  #isDue = false

  /** `soon` runs a task once the input at hand has been read. */
  constructor(writer: Writer, soon: (task: () => void) => void) {
    this.#writer = writer
    this.#soon = soon
  }

  /**
   * Adds a text, which is written at the end of this round at the latest, once `settle` is called.
   */
  say(text: string): void {
    this.#texts ??= []
    this.#texts.push(text)
  }

  /** Says that no more texts follow for now. */
  settle(): void {
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

  /** Writes the waiting texts. */
  flush(): void {
    if (this.#texts === undefined) return
    const texts = this.#texts
    this.#texts = undefined
    this.#writer.write(texts)
  }
}
