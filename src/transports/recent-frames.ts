// Keeps the last frames of channels with several sessions. A session whose window was full for a
// moment goes on from them: a read of the feed would cost the store and the encoding once more for
// each such session.
//
// Invariants:
//   recent-frames/1. The kept frames have at most `bytesMax` together. A full store of frames drops
//     its older half at once.
//   recent-frames/2. The frames that `after` gives follow the seq without a hole.
//   recent-frames/3. A session that is far behind gets no frames here: the feed gives it the last
//     state of each Thing, and not each update.

import type { ChannelId } from '#domain/identity'
import type { Frame } from './signals.ts'

/** Entries by which a session may be behind: four windows. */
const BEHIND_MAX = 1_024

type Frames = Map<ChannelId, Frame[]>

export class RecentFrames {
  readonly #bytesMax: number
  #newer: Frames = new Map()
  #older: Frames = new Map()
  #newerBytes = 0
  #olderBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes of the kept frames. */
  get bytes(): number {
    return this.#newerBytes + this.#olderBytes
  }

  /** Takes frames of one channel, in seq order. */
  add(channelId: ChannelId, frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (this.#newerBytes + frame.bytes > this.#bytesMax / 2) this.#forgetOlder()
      const kept = this.#newer.get(channelId)
      const nextSeq = (kept?.at(-1)?.seq ?? frame.seq - 1) + 1
      if (frame.seq < nextSeq) continue
      this.#newerBytes += frame.bytes
      if (kept !== undefined && frame.seq === nextSeq) kept.push(frame)
      else this.#newer.set(channelId, [frame]) // recent-frames/2
    }
  }

  /** At most `limit` frames behind `seq`, in seq order; none when the next one is not kept. */
  after(channelId: ChannelId, seq: number, limit: number): readonly Frame[] {
    const older = this.#older.get(channelId) ?? []
    const newer = this.#newer.get(channelId) ?? []
    const last = newer.at(-1) ?? older.at(-1)
    if (last === undefined || last.seq - seq > BEHIND_MAX) return [] // recent-frames/3
    const first = behind(older, seq, limit)
    const reached = first.at(-1)?.seq ?? seq
    return [...first, ...behind(newer, reached, limit - first.length)]
  }

  /** Drops the older half. (recent-frames/1) */
  #forgetOlder(): void {
    this.#older = this.#newer
    this.#olderBytes = this.#newerBytes
    this.#newer = new Map()
    this.#newerBytes = 0
  }
}

/** The frames after a seq, of frames without a hole; none when one is missing. (recent-frames/2) */
function behind(frames: readonly Frame[], seq: number, limit: number): readonly Frame[] {
  const at = seq + 1 - (frames[0]?.seq ?? Infinity)
  return at < 0 ? [] : frames.slice(at, at + limit)
}
