// The tick of every session, once a second. Sessions do on their ticks whatever depends on time.
//
// Invariants:
//   ticks/1. Ticks are spread over the second: a tenth of the sessions has its own each tenth of
//     it. Ten thousand devices are then pinged by forties and not by four hundreds.

export const TICK_MS = 1_000
const SLICES = 10
export const SLICE_MS = TICK_MS / SLICES

export class Ticks<Member> {
  readonly #slices = Array.from({ length: SLICES }, () => new Set<Member>())
  #added = 0
  #taken = 0

  add(member: Member): void {
    this.#slices[this.#added % SLICES]?.add(member)
    this.#added += 1
  }

  remove(member: Member): void {
    for (const slice of this.#slices) slice.delete(member)
  }

  /**
   * The members whose tick is now; to be asked every SLICE_MS. `isRound`: everybody has had one
   * since the last round. A member that leaves while the others have theirs has none.
   */
  next(): { readonly members: Iterable<Member>; readonly isRound: boolean } {
    this.#taken += 1
    const members = this.#slices[this.#taken % SLICES] ?? []
    return { members, isRound: this.#taken % SLICES === 0 }
  }
}
