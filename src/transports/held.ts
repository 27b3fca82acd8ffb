// Bytes that carriers hold for devices that do not take them, over all sessions of a process.
// What is sent and not acknowledged is only numbers here: a device that reads costs nothing.
//
// Invariants:
//   held/1. Together carriers hold at most so many bytes. From three quarters of that on, the
//     sessions that hold most are told to come back, until the others hold half; beyond the whole,
//     those that were told are cut, the largest first.

/** A session as this file sees it. */
export interface Holder {
  /** Asks the device to come back later. Nothing more is sent to it. */
  leave(reason: 'busy'): void
  /** Ends it at once, with what its carrier holds. */
  cut(): void
}

/** Of a session that ends: more is cut off, or it would stay until the device has read it all. */
const KEPT_AT_CLOSE_MAX = 65_536

export class Held {
  readonly #bytesMax: number
  readonly #sentAway: () => void
  readonly #staying = new Map<Holder, number>()
  readonly #leaving = new Map<Holder, number>()
  #stayingBytes = 0
  #leavingBytes = 0

  /** `sentAway` is told of each session that has to leave. */
  constructor(bytesMax: number, sentAway: () => void) {
    this.#bytesMax = bytesMax
    this.#sentAway = sentAway
  }

  /** By all carriers together. */
  get bytes(): number {
    return this.#stayingBytes + this.#leavingBytes
  }

  /** By the carrier of one session, as it was told last. */
  by(holder: Holder): number {
    return this.#staying.get(holder) ?? this.#leaving.get(holder) ?? 0
  }

  /** Whether a session that ends now is cut. */
  isTooMuchToKeep(holder: Holder): boolean {
    return this.by(holder) > KEPT_AT_CLOSE_MAX
  }

  /** A carrier holds so many bytes now; 0 when it is gone. */
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
