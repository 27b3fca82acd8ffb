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

/**
 * A session, as far as this file needs it. The members of a slice are a ring of their own: a Set
 * grows and shrinks with each of them, and what it drops is old by then and stays for long.
 */
export interface Ticked<Member> {
  /** The number of the slice of time in which its tick comes; undefined for none. Kept by Ticks. */
  tickSlice: number | undefined
  /** The members of the slice before and after this one: one that is alone is its own neighbour. */
  tickBefore: Member | undefined
  tickAfter: Member | undefined
}

export class Ticks<Member extends Ticked<Member>> {
  /** The first member of each slice. */
  readonly #slices = Array.from({ length: SLICES }, (): Member | undefined => undefined)
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
    const first = (this.#slices[slice % SLICES] ??= member)
    member.tickSlice = slice
    join(first.tickBefore ?? member, member)
    join(member, first)
  }

  remove(member: Member): void {
    const { tickSlice, tickBefore, tickAfter } = member
    if (tickSlice === undefined || tickBefore === undefined || tickAfter === undefined) return
    const index = tickSlice % SLICES
    if (this.#slices[index] === member) {
      this.#slices[index] = tickAfter === member ? undefined : tickAfter
    }
    join(tickBefore, tickAfter)
    member.tickSlice = member.tickBefore = member.tickAfter = undefined
  }

  /** The members whose tick is due. A member that is removed during the iteration gets none. */
  *due(nowMs: number): Iterable<Member> {
    const last = Math.floor(nowMs / SLICE_MS)
    while (this.#taken < last) {
      this.#taken += 1
      const index = this.#taken % SLICES
      let member = this.#slices[index]
      while (member !== undefined) {
        this.remove(member)
        yield member
        member = this.#slices[index]
      }
    }
  }
}

function join<Member extends Ticked<Member>>(before: Member, after: Member): void {
  before.tickAfter = after
  after.tickBefore = before
}
