// Keeps a device's position in each of its channels, and decides which entries are new to it.
//
// Invariants:
//   positions/1. A handled entry is never new again, except that after a gap with `restart` Things
//     are new once more, but not Messages and Events. The cursor stays meanwhile: a session that is
//     lost in the middle resumes from it, and the gateway restarts again.
//   positions/2. After a gap with the reason `reset` every entry is new: the feed has lost entries,
//     and other entries will get their numbers.

import type { ChannelId } from '#domain/identity'
import type { Delivery, Gap } from '#src/schemas/frames'

export class Positions {
  /**
   * The seq up to which every entry was handled; the next session resumes from it. The channel that
   * moved last is the last one.
   */
  readonly cursors: Map<ChannelId, number>
  /** The seq of the last Thing after a restart, until the seqs reach the cursor. */
  readonly #restarted = new Map<ChannelId, number>()

  constructor(cursors: Map<ChannelId, number> = new Map()) {
    this.cursors = cursors
  }

  isNew({ channelId, seq, model }: Delivery): boolean {
    const restarted = model === 'thing' ? this.#restarted.get(channelId) : undefined
    return seq > (restarted ?? this.cursors.get(channelId) ?? -1) // positions/1
  }

  /** Records that a delivery was handled. */
  handled({ channelId, seq, model }: Delivery): void {
    if (seq > (this.cursors.get(channelId) ?? -1)) this.caughtUp(channelId, seq)
    else if (model === 'thing' && this.#restarted.has(channelId)) {
      this.#restarted.set(channelId, seq)
    }
  }

  /** Records that the device has every entry for it up to a seq. No cursor goes back. */
  caughtUp(channelId: ChannelId, seq: number): void {
    this.#restarted.delete(channelId)
    const moved = Math.max(seq, this.cursors.get(channelId) ?? 0)
    this.cursors.delete(channelId)
    this.cursors.set(channelId, moved)
  }

  /** Records a gap. */
  skipped({ channelId, from, reason, restart }: Gap): void {
    if (!restart) return
    if (reason === 'reset') {
      this.cursors.set(channelId, 0) // positions/2
      this.#restarted.delete(channelId)
      return
    }
    this.cursors.set(channelId, Math.max(from - 1, this.cursors.get(channelId) ?? 0)) // positions/1
    this.#restarted.set(channelId, 0)
  }

  /** Records the end of the subscription. */
  forget(channelId: ChannelId): void {
    this.cursors.delete(channelId)
    this.#restarted.delete(channelId)
  }
}
