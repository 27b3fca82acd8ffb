// Bounds the bytes that carriers hold for devices that do not read, over all sessions of a process.
// Entries that are sent and not acknowledged are only numbers: a device that reads costs nothing
// here.
//
// Invariants:
//   held/1. Together carriers hold at most so many bytes. From three quarters of that on, the
//     sessions that hold most are told to come back, until the others hold half; beyond the bound
//     those that were told are cut, the largest first.

/** A session, as far as this file needs it. */
export interface Holder {
  /** Asks the device to come back later, and sends it nothing more. */
  leave(reason: 'busy'): void
  /** Ends it at once; what its carrier holds is lost. */
  cut(): void
}

/**
 * Bytes that an ending session may still send. One that holds more is cut: it would stay until the
 * device has read it all.
 */
const KEPT_AT_CLOSE_MAX = 65_536

export class Held {
  readonly #bytesMax: number
  readonly #sentAway: () => void
  readonly #staying = new Map<Holder, number>()
  readonly #leaving = new Map<Holder, number>()
  #stayingBytes = 0
  #leavingBytes = 0

  /** `sentAway` is called for each session that has to leave. */
  constructor(bytesMax: number, sentAway: () => void) {
    this.#bytesMax = bytesMax
    this.#sentAway = sentAway
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
    if (this.#stayingBytes > (this.#bytesMax * 3) / 4) this.#sendAway()
    if (this.bytes > this.#bytesMax) this.#cut()
  }

  #sendAway(): void {
    for (const [holder, bytes] of largestFirst(this.#staying)) {
      if (this.#stayingBytes <= this.#bytesMax / 2) return
      this.#staying.delete(holder)
      this.#leaving.set(holder, bytes)
      this.#stayingBytes -= bytes
      this.#leavingBytes += bytes
      this.#sentAway()
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
