// The channels of one session that are behind: which of them is read next, and how much of it.
//
// Invariants:
//   backlog/1. At most PAGES_AT_ONCE_MAX pages are under way, and their entries have room in the
//     window.
//   backlog/2. A read that brought no progress is not repeated before a tick, whatever the store
//     answers.

import { requestOf } from './progress.ts'
import type { Progress } from './progress.ts'
import { PAGES_AT_ONCE_MAX, PAGE_ENTRIES_MAX } from './signals.ts'
import type { Output } from './signals.ts'
import type { Window } from './window.ts'

interface Loading {
  readonly progress: Progress
  readonly limit: number
}

export class Backlog {
  readonly #window: Window
  /** In the order in which they fell behind. */
  readonly #behind = new Set<Progress>()
  readonly #postponed = new Set<Progress>()
  readonly #loading = new Map<number, Loading>()
  #lastTicket = 0

  constructor(window: Window) {
    this.#window = window
  }

  /** Channels that are not live. */
  get size(): number {
    return this.#behind.size + this.#postponed.size + this.#loading.size
  }

  add(progress: Progress): void {
    progress.stage = 'behind'
    this.#behind.add(progress)
  }

  /** The channel is read again after the next tick. (backlog/2) */
  postpone(progress: Progress): void {
    progress.stage = 'postponed'
    this.#postponed.add(progress)
  }

  remove(progress: Progress): void {
    this.#behind.delete(progress)
    this.#postponed.delete(progress)
  }

  tick(): void {
    for (const progress of this.#postponed) this.add(progress)
    this.#postponed.clear()
  }

  /** The channel that a page was asked for with this ticket. */
  arrived(ticket: number): Progress | undefined {
    const loading = this.#loading.get(ticket)
    this.#loading.delete(ticket)
    return loading?.progress
  }

  /** Asks for the next pages, as many as fit. (backlog/1) */
  read(outputs: Output[]): void {
    while (this.#behind.size > 0 && this.#loading.size < PAGES_AT_ONCE_MAX) {
      let reserved = 0
      for (const { limit } of this.#loading.values()) reserved += limit
      const room = this.#window.room(reserved)
      const [progress] = this.#behind
      if (room === 0 || progress === undefined) return
      const limit = Math.min(room, PAGE_ENTRIES_MAX)
      this.#behind.delete(progress)
      progress.stage = 'loading'
      this.#lastTicket += 1
      this.#loading.set(this.#lastTicket, { progress, limit })
      const request = requestOf(progress, limit)
      outputs.push({ kind: 'read-page', ticket: this.#lastTicket, request })
    }
  }
}
