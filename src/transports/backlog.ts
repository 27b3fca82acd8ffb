// Decides which of a session's channels that are behind are read next, and how much of each.
//
// Invariants:
//   backlog/1. At most READS_AT_ONCE_MAX reads run, and their entries have room in the window.
//   backlog/2. After a read without progress the next one waits for a tick, whatever the store
//     answers.
//   backlog/3. A read covers up to READ_CHANNELS_MAX of the channels that are behind and shares its
//     entries out among them: one read serves many channels of a device with a thousand, and no
//     channel waits for the end of another.

import { requestOf } from './progress.ts'
import type { Progress } from './progress.ts'
import {
  READS_AT_ONCE_MAX,
  READ_BYTES_MAX,
  READ_CHANNELS_MAX,
  READ_ENTRIES_MAX,
} from './signals.ts'
import type { EffectOf, Output } from './signals.ts'
import type { Window } from './window.ts'

/**
 * The least entries of a channel's share in a read. With less, each few entries would cost another
 * look-up of the channel; with more, a read would reserve room in vain where many updates are of
 * few Things.
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

  /** The channels of the read with this ticket, in its order. */
  arrived(ticket: number): readonly Progress[] {
    const loading = this.#loading.get(ticket)
    this.#loading.delete(ticket)
    return loading?.channels ?? []
  }

  /** Adds outputs that read the next pages, as many as fit. (backlog/1) */
  read(outputs: Output[]): void {
    while (this.#behind.size > 0 && this.#loading.size < READS_AT_ONCE_MAX) {
      let reserved = 0
      for (const { entries } of this.#loading.values()) reserved += entries
      const room = this.#window.room(reserved)
      if (room === 0) return
      outputs.push(this.#readOf(Math.min(room, READ_ENTRIES_MAX)))
    }
  }

  /** A read of at most `room` entries. (backlog/3) */
  #readOf(room: number): EffectOf<'read-pages'> {
    const channels: Progress[] = []
    const requests: EffectOf<'read-pages'>['requests'][number][] = []
    let left = room
    for (const progress of this.#behind) {
      if (left === 0 || channels.length === READ_CHANNELS_MAX) break
      const share = Math.max(SHARE_MIN, Math.ceil(left / this.#behind.size))
      const missing = Math.max(1, progress.announcedSeq - progress.sentSeq)
      const limit = Math.min(left, share, missing)
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
