// Notices a silent connection.

import type { ClientRuntime } from './runtime.ts'

/** Milliseconds that the gateway may take from the beginning of a connection to its welcome. */
const WELCOME_WITHIN_MS = 15_000

/** Checks once in each period, so it notices silence after one to two periods. */
export class Watchdog {
  readonly #runtime: ClientRuntime
  readonly #onSilence: () => void
  #cancel: () => void
  #hasReceived = false

  /** Calls `onSilence` once no frame has come for too long. */
  constructor(runtime: ClientRuntime, onSilence: () => void) {
    this.#runtime = runtime
    this.#onSilence = onSilence
    this.#cancel = runtime.after(WELCOME_WITHIN_MS, onSilence)
  }

  received(): void {
    this.#hasReceived = true
  }

  /** Expects a frame within every period. Called at the welcome. */
  expectWithin(periodMs: number): void {
    this.#cancel()
    this.#cancel = this.#runtime.after(periodMs, () => {
      if (!this.#hasReceived) {
        this.#onSilence()
        return
      }
      this.#hasReceived = false
      this.expectWithin(periodMs)
    })
  }

  stop(): void {
    this.#cancel()
  }
}
