// Decides which of a device's sessions is newer, without a clock: the clocks of two nodes differ.
//
// Invariants:
//   rank/1. Within a process the session whose connection came later is newer; between nodes it is
//     the one with the greater number (DeviceStore.numberSession).

export class Rank {
  /** The number of its connection among those that the process has opened. */
  readonly #connectionNumber: number
  #number = 0
  #newestNumber = 0

  constructor(connectionNumber: number) {
    this.#connectionNumber = connectionNumber
  }

  get number(): number {
    return this.#number
  }

  /** Sets the number of the session. */
  setNumber(number: number): void {
    this.#number = number
  }

  /** Compares two sessions of one process. */
  isOlderThan(other: Rank): boolean {
    return this.#connectionNumber < other.#connectionNumber
  }

  /**
   * Replaces an older session of the same process, whose number may be greater: its hello may have
   * arrived first.
   */
  succeed(older: Rank): void {
    this.#number = Math.max(this.#number, older.#number)
  }

  /** Records that a session of the device with this number has begun, here or on another node. */
  otherBegan(number: number): void {
    this.#newestNumber = Math.max(this.#newestNumber, number)
  }

  /** True when a newer session has begun. */
  get isOver(): boolean {
    return this.#newestNumber > this.#number
  }
}
