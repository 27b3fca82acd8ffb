// Returns each session a tick when its next timed work is due.
//
// Invariants:
//   ticks/1. A tick comes at most SLICE_MS after the session's own moment, so moments that are
//     spread stay spread: of ten thousand devices forty get a ping at a time, not four hundred.
//   ticks/2. A session without due work costs nothing, however many there are.

/** Milliseconds between the calls of `due` that callers make. */
export const SLICE_MS = 100
/** A tick that is due after more slices comes at their end, and again later. */
const SLICES = 256

/** A session, as far as this file needs it. */
export interface Ticked {
  /** The number of the slice of time in which its tick comes; undefined for none. Kept by Ticks. */
  tickSlice: number | undefined
}

export class Ticks<Member extends Ticked> {
  readonly #slices = Array.from({ length: SLICES }, () => new Set<Member>())
  /** The number of the last slice whose ticks `due` has given. */
  #taken: number

  /** Times are monotonic, in milliseconds. */
  constructor(nowMs: number) {
    this.#taken = Math.floor(nowMs / SLICE_MS)
  }

  /** Plans a tick for this time, unless an earlier one is planned; Infinity plans none. */
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

  /** The members whose tick is due. A member that is removed during the iteration gets none. */
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
