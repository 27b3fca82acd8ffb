// The channels of one session that are behind: which of them are read next, and how much of each.
//
// Invariants:
//   backlog/1. At most READS_AT_ONCE_MAX reads are under way, and their entries have room in the
//     window.
//   backlog/2. A read that brought no progress is not repeated before a tick, whatever the store
//     answers.
//   backlog/3. A read is shared out over the channels that are behind, up to READ_CHANNELS_MAX of
//     them: a device with a thousand channels costs a read for many of them, and none waits for the
//     end of another.

import { requestOf } from './progress.ts'
import type { Progress } from './progress.ts'
import {
  READS_AT_ONCE_MAX,
  READ_BYTES_MAX,
  READ_CHANNELS_MAX,
  READ_ENTRIES_MAX,
} from './signals.ts'
import type { AskedOf, Output } from './signals.ts'
import type { Window } from './window.ts'

/**
 * Entries of a channel's share in a read, at least. Less would look a channel up once more for each
 * few entries; more would be reserved for nothing where many updates are of few Things.
 */
const SHARE_MIN = 16

interface Loading {
  readonly channels: readonly Progress[]
  readonly entries: number
}

export class Backlog {
  readonly #window: Window
  /** Channels in the order in which they fell behind. */
  readonly #behind = new Set<Progress>()
  readonly #postponed = new Set<Progress>()
  readonly #loading = new Map<number, Loading>()
  #lastTicket = 0

  constructor(window: Window) {
    this.#window = window
  }

  /** The number of channels that are not live. */
  get size(): number {
    let loading = 0
    for (const { channels } of this.#loading.values()) loading += channels.length
    return this.#behind.size + this.#postponed.size + loading
  }

  /** True while the next read of a channel waits for a tick. (backlog/2) */
  get isPostponed(): boolean {
    return this.#postponed.size > 0
  }

  add(progress: Progress): void {
    progress.stage = 'behind'
    this.#behind.add(progress)
  }

  /** Puts the next read of a channel off until a tick. (backlog/2) */
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

  /** The channels that were asked for with this ticket, in their order. */
  arrived(ticket: number): readonly Progress[] {
    const loading = this.#loading.get(ticket)
    this.#loading.delete(ticket)
    return loading?.channels ?? []
  }

  /** Asks for the next pages, as many as fit. (backlog/1) */
  read(outputs: Output[]): void {
    while (this.#behind.size > 0 && this.#loading.size < READS_AT_ONCE_MAX) {
      let reserved = 0
      for (const { entries } of this.#loading.values()) reserved += entries
      const room = this.#window.room(reserved)
      if (room === 0) return
      outputs.push(this.#readOf(Math.min(room, READ_ENTRIES_MAX)))
    }
  }

  /** A read of so many entries at most. (backlog/3) */
  #readOf(room: number): AskedOf<'read-pages'> {
    const channels: Progress[] = []
    const requests: AskedOf<'read-pages'>['requests'][number][] = []
    let left = room
    for (const progress of this.#behind) {
      if (left === 0 || channels.length === READ_CHANNELS_MAX) break
      const share = Math.max(SHARE_MIN, Math.ceil(left / this.#behind.size))
      const owed = Math.max(1, progress.announcedSeq - progress.sentSeq)
      const limit = Math.min(left, share, owed)
      left -= limit
      this.#behind.delete(progress)
      progress.stage = 'loading'
      channels.push(progress)
      requests.push(requestOf(progress, limit))
    }
    this.#lastTicket += 1
    this.#loading.set(this.#lastTicket, { channels, entries: room - left })
    return { kind: 'read-pages', ticket: this.#lastTicket, requests, bytes: READ_BYTES_MAX }
  }
}
