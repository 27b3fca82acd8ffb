// Windows of a minute for budgets.

import type { NowMs } from '#domain/ports'

const WINDOW_MS = 60_000

export class Minutes {
  readonly #nowMs: NowMs
  #endsAt = Number.NEGATIVE_INFINITY
  #number = 0

  constructor(nowMs: NowMs) {
    this.#nowMs = nowMs
  }

  /** The number of the window; the first call after a window's end begins the next one. */
  current(): number {
    const now = this.#nowMs()
    // A clock that was set back must not keep an old window open for longer than a minute.
    if (now >= this.#endsAt || now < this.#endsAt - WINDOW_MS) {
      this.#endsAt = now + WINDOW_MS
      this.#number += 1
    }
    return this.#number
  }

  /** Milliseconds until the window ends. */
  get resetMs(): number {
    return this.#endsAt - this.#nowMs()
  }
}
