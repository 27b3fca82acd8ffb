// The ticks of sessions: each session gets one when something that it does by the clock is due.
//
// Invariants:
//   ticks/1. A tick comes at the session's own moment, within SLICE_MS behind it, so moments that
//     are spread stay spread: ten thousand devices are pinged by forties and not by four hundreds.
//   ticks/2. A session for which nothing is due costs nothing, however many there are.

/** How often `due` is to be asked. */
export const SLICE_MS = 100
/** Ticks that are further away come at the end of so many slices, and then again. */
const SLICES = 256

/** A session, as far as this file needs it. */
export interface Ticked {
  /** The number of the slice of time in which its tick comes; undefined for none. Kept by Ticks. */
  tickSlice: number | undefined
}

export class Ticks<Member extends Ticked> {
  readonly #slices = Array.from({ length: SLICES }, () => new Set<Member>())
  /** The number of the last slice that was taken. */
  #taken: number

  /** Times are monotonic, in milliseconds. */
  constructor(nowMs: number) {
    this.#taken = Math.floor(nowMs / SLICE_MS)
  }

  /** A tick comes at this time, unless one comes before it; Infinity asks for none. */
  atLatest(member: Member, dueMs: number): void {
    if (dueMs === Infinity) return
    const own = Math.max(this.#taken + 1, Math.ceil(dueMs / SLICE_MS))
    const slice = Math.min(own, this.#taken + SLICES - 1)
    if (member.tickSlice !== undefined && slice >= member.tickSlice) return
    this.remove(member)
    member.tickSlice = slice
    this.#slices[slice % SLICES]?.add(member)
  }

  remove(member: Member): void {
    if (member.tickSlice === undefined) return
    this.#slices[member.tickSlice % SLICES]?.delete(member)
    member.tickSlice = undefined
  }

  /** The members whose tick has come. One that is removed while the others have theirs has none. */
  *due(nowMs: number): Iterable<Member> {
    const last = Math.floor(nowMs / SLICE_MS)
    while (this.#taken < last) {
      this.#taken += 1
      const members = this.#slices[this.#taken % SLICES] ?? []
      for (const member of members) {
        this.remove(member)
        yield member
      }
    }
  }
}
