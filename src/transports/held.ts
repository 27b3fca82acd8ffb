// Bounds the bytes that carriers hold for devices that do not read, over all sessions of a process.
// A session keeps only the numbers of its unacknowledged entries, so a device that reads holds
// nothing here.
//
// Invariants:
//   held/1. All carriers together hold at most `bytesMax`. From three quarters of that on, the
//     sessions that hold most have to leave and come back later, until the others hold half; beyond
//     the bound the leaving ones are cut, the largest first.

/** A session, as far as this file needs it. */
export interface Holder {
  /** Tells the device to come back later, and sends it nothing more. */
  leave(reason: 'busy'): void
  /** Ends it at once; the texts that its carrier holds are lost. */
  cut(): void
}

/**
 * Bytes that an ending session may still send. A session that holds more is cut: it would stay
 * until its device has read all of them.
 */
const KEPT_AT_CLOSE_MAX = 65_536

export class Held {
  readonly #bytesMax: number
  readonly #onLeave: () => void
  readonly #staying = new Map<Holder, number>()
  readonly #leaving = new Map<Holder, number>()
  #stayingBytes = 0
  #leavingBytes = 0

  /** Calls `onLeave` for each session that has to leave. */
  constructor(bytesMax: number, onLeave: () => void) {
    this.#bytesMax = bytesMax
    this.#onLeave = onLeave
  }

  /** Bytes that all carriers hold. */
  get bytes(): number {
    return this.#stayingBytes + this.#leavingBytes
  }

  /** Bytes that the carrier of one session holds, by its last report. */
  by(holder: Holder): number {
    return this.#staying.get(holder) ?? this.#leaving.get(holder) ?? 0
  }

  /** True when a session that ends now must be cut. */
  isTooMuchToKeep(holder: Holder): boolean {
    return this.by(holder) > KEPT_AT_CLOSE_MAX
  }

  /** Reports the bytes that a carrier holds now; 0 when it is gone. */
  changed(holder: Holder, bytes: number): void {
    const before = this.#leaving.get(holder)
    if (before === undefined) {
      this.#stayingBytes += bytes - (this.#staying.get(holder) ?? 0)
      put(this.#staying, holder, bytes)
    } else {
      this.#leavingBytes += bytes - before
      put(this.#leaving, holder, bytes)
    }
    if (this.#stayingBytes > (this.#bytesMax * 3) / 4) this.#makeRoom()
    if (this.bytes > this.#bytesMax) this.#cut()
  }

  #makeRoom(): void {
    for (const [holder, bytes] of largestFirst(this.#staying)) {
      if (this.#stayingBytes <= this.#bytesMax / 2) return
      this.#staying.delete(holder)
      this.#leaving.set(holder, bytes)
      this.#stayingBytes -= bytes
      this.#leavingBytes += bytes
      this.#onLeave()
      holder.leave('busy')
    }
  }

  #cut(): void {
    for (const [holder] of largestFirst(this.#leaving)) {
      if (this.bytes <= this.#bytesMax) return
      holder.cut()
    }
  }
}

function put(holders: Map<Holder, number>, holder: Holder, bytes: number): void {
  if (bytes === 0) holders.delete(holder)
  else holders.set(holder, bytes)
}

const largestFirst = (holders: ReadonlyMap<Holder, number>): (readonly [Holder, number])[] =>
  [...holders].sort(([, one], [, other]) => other - one)
