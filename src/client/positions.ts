// A device's position in each of its channels, which tells the entries that are new to it.
//
// Invariants:
//   positions/1. A taken entry is never new again. Behind a gap with `restart` Things come once
//     more, Messages and Events do not. The cursor stays until then: a session that is lost in the
//     middle resumes from it, and the gateway restarts again.
//   positions/2. Behind a gap with the reason `reset` the feed has lost entries, and their numbers
//     will name others: everything is new.

import type { ChannelId } from '#domain/identity'
import type { Delivery, Gap } from '#src/schemas/frames'

export class Positions {
  /** The seq up to which everything was taken; the next session resumes from it. */
  readonly cursors: Map<ChannelId, number>
  /** The last Thing that has come behind a restart, until the cursor is reached. */
  readonly #restarted = new Map<ChannelId, number>()

  constructor(cursors: Map<ChannelId, number> = new Map()) {
    this.cursors = cursors
  }

  isNew({ channelId, seq, model }: Delivery): boolean {
    const restarted = model === 'thing' ? this.#restarted.get(channelId) : undefined
    return seq > (restarted ?? this.cursors.get(channelId) ?? -1) // positions/1
  }

  /** Notes that a delivery was taken. */
  took({ channelId, seq, model }: Delivery): void {
    if (seq > (this.cursors.get(channelId) ?? -1)) this.caughtUp(channelId, seq)
    else if (model === 'thing' && this.#restarted.has(channelId)) {
      this.#restarted.set(channelId, seq)
    }
  }

  /** Notes that everything up to a seq has come, or is not for the device. No cursor goes back. */
  caughtUp(channelId: ChannelId, seq: number): void {
    this.#restarted.delete(channelId)
    this.cursors.set(channelId, Math.max(seq, this.cursors.get(channelId) ?? 0))
  }

  /** Notes a gap. */
  missed({ channelId, from, reason, restart }: Gap): void {
    if (!restart) return
    if (reason === 'reset') {
      this.cursors.set(channelId, 0) // positions/2
      this.#restarted.delete(channelId)
      return
    }
    this.cursors.set(channelId, Math.max(from - 1, this.cursors.get(channelId) ?? 0)) // positions/1
    this.#restarted.set(channelId, 0)
  }

  /** Notes that the subscription ended. */
  forget(channelId: ChannelId): void {
    this.cursors.delete(channelId)
    this.#restarted.delete(channelId)
  }
}
