// Notices a silent connection.

import type { ClientRuntime } from './runtime.ts'

/** Milliseconds that the gateway may take from the beginning of a connection to its welcome. */
const WELCOME_WITHIN_MS = 15_000

/** Coarse: it looks once in each period. */
export class Watchdog {
  readonly #runtime: ClientRuntime
  readonly #bark: () => void
  #cancel: () => void
  #hasHeard = false

  /** Calls `bark` once nothing has come for too long. */
  constructor(runtime: ClientRuntime, bark: () => void) {
    this.#runtime = runtime
    this.#bark = bark
    this.#cancel = runtime.after(WELCOME_WITHIN_MS, bark)
  }

  heard(): void {
    this.#hasHeard = true
  }

  /** Expects something within every period. Called at the welcome. */
  expectWithin(periodMs: number): void {
    this.#cancel()
    this.#cancel = this.#runtime.after(periodMs, () => {
      if (!this.#hasHeard) {
        this.#bark()
        return
      }
      this.#hasHeard = false
      this.expectWithin(periodMs)
    })
  }

  stop(): void {
    this.#cancel()
  }
}
