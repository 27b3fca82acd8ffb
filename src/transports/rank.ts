// Decides which of a device's sessions is newer. No clock decides: the clocks of two nodes differ.
//
// Invariants:
//   rank/1. Within a process the session whose connection came later is newer; between nodes it is
//     the one with the greater number (DeviceStore.numberSession).

export class Rank {
  /** The number of its connection among those that the process has opened. */
  readonly #place: number
  #number = 0
  #heard = 0

  constructor(place: number) {
    this.#place = place
  }

  get number(): number {
    return this.#number
  }

  /** Says that the session has its number. */
  isNumbered(number: number): void {
    this.#number = number
  }

  /** Compares two sessions of one process. */
  isOlderThan(other: Rank): boolean {
    return this.#place < other.#place
  }

  /**
   * Takes the place of an older session of the same process, whose hello may have overtaken this
   * one's.
   */
  succeed(older: Rank): void {
    this.#number = Math.max(this.#number, older.#number)
  }

  /** Says that a session of the device with this number has begun, here or on another node. */
  hear(number: number): void {
    this.#heard = Math.max(this.#heard, number)
  }

  /** True when a newer session has begun. Asked when the session itself begins, and afterwards. */
  get isOver(): boolean {
    return this.#heard > this.#number
  }
}
