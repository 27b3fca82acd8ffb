// Gathers bytes that arrive in pieces, in their order.
//
// Invariants:
//   gathered/1. Pieces of any size cost and hold in proportion to their bytes: they are copied into
//               one buffer of at most twice the bytes that wait in it, or GATHERED_BYTES_MIN.
//   gathered/2. What was taken stays as it is: nothing is written over it.

/** The least memory in which pieces are gathered. */
export const GATHERED_BYTES_MIN = 512
const NOTHING = Buffer.alloc(0)

export class Gathered {
  #buffer: Buffer = NOTHING
  #from = 0
  #to = 0

  /** Bytes that wait. */
  get length(): number {
    return this.#to - this.#from
  }

  /** Bytes of memory. */
  get heldBytes(): number {
    return this.#buffer.length
  }

  /** A view of the bytes that wait. */
  get bytes(): Buffer {
    return this.#buffer.subarray(this.#from, this.#to)
  }

  /** Copies a piece. `whole`: bytes that are expected at most, where that is known. */
  add(piece: Uint8Array, whole = Infinity): void {
    const needed = this.length + piece.length
    if (this.#to + piece.length > this.#buffer.length) {
      const wanted = Math.min(whole, Math.max(GATHERED_BYTES_MIN, 2 * needed)) // gathered/1
      this.#move(Math.max(needed, wanted))
    }
    this.#buffer.set(piece, this.#to)
    this.#to += piece.length
  }

  /** Takes a piece over where none waits: its owner no longer writes to it. */
  adopt(piece: Buffer): void {
    if (this.length > 0) return this.add(piece)
    this.#buffer = piece
    this.#from = 0
    this.#to = piece.length
  }

  /** Takes so many bytes, or all, from the front. (gathered/2) */
  take(length = this.length): Buffer {
    const taken = this.#buffer.subarray(this.#from, this.#from + length)
    this.#from += length
    if (this.length === 0) this.clear()
    return taken
  }

  /** Gives back the memory of what was taken, once that is most of it. */
  settle(): void {
    const isMostlyTaken = this.heldBytes > Math.max(GATHERED_BYTES_MIN, 2 * this.length)
    if (isMostlyTaken) this.#move(this.length) // gathered/1
  }

  clear(): void {
    this.#buffer = NOTHING
    this.#from = 0
    this.#to = 0
  }

  /** To memory of its own, since what was taken shares the present one. (gathered/2) */
  #move(bytes: number): void {
    const moved = Buffer.allocUnsafeSlow(bytes)
    this.#buffer.copy(moved, 0, this.#from, this.#to)
    this.#buffer = moved
    this.#to -= this.#from
    this.#from = 0
  }
}
