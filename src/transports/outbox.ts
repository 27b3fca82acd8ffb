// What a session has said and its carrier does not have yet.
//
// Invariants:
//   outbox/1. What a session says while the input at hand is read goes to its carrier together: one
//     write a round, not one for each channel that changed. What waits is bounded, and nothing
//     overtakes it.

import { WINDOW_ENTRIES_MAX } from './signals.ts'

/** Texts that may wait for the end of a round; with them all go at once. */
const WAITING_MAX = WINDOW_ENTRIES_MAX

export interface OutboxPorts {
  /** Runs a task after the input that is at hand has been read. */
  readonly soon: (task: () => void) => void
  /** Takes texts in the order in which they were said; never throws. */
  readonly write: (texts: readonly string[]) => void
}

export class Outbox {
  readonly #ports: OutboxPorts
  #texts: string[] = []
  #isDue = false

  constructor(ports: OutboxPorts) {
    this.#ports = ports
  }

  /** Adds a text, which goes no later than at the end of this round once `settle` is called. */
  say(text: string): void {
    this.#texts.push(text)
  }

  /** Nothing more is said for now. */
  settle(): void {
    if (this.#texts.length >= WAITING_MAX) this.flush()
    else if (this.#texts.length > 0 && !this.#isDue) {
      this.#isDue = true
      this.#ports.soon(() => {
        this.#isDue = false
        this.flush()
      })
    }
  }

  /** Writes what waits. */
  flush(): void {
    if (this.#texts.length === 0) return
    const texts = this.#texts
    this.#texts = []
    this.#ports.write(texts)
  }
}
