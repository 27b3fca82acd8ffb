// The packets on their way to one client, and the bytes of them that its carrier still holds.
//
// Invariants:
//   writing/1. Beyond HELD_PAUSE a client is slow: whoever makes packets for it waits, without a
//              place that others need, until it has taken enough.
//   writing/2. What is held is bounded: for one client, which is cut beyond HELD_MAX, and for all
//              clients together (held/1).
//   writing/3. A slow client that takes nothing for TAKES_WITHIN_MS is ended. Its carrier gets one
//              part after the other, since some tell only when they have sent all they hold.

import type { Runtime } from '#domain/runtime'
import type { Held, Holder } from '#src/transports/held'
import { HELD_MAX, HELD_PAUSE, TAKES_WITHIN_MS } from './bounds.ts'
import type { MqttCarrier } from './carrier.ts'

interface WritingPorts {
  readonly runtime: Pick<Runtime, 'soon' | 'after'>
  /** What all clients have not taken. */
  readonly held: Pick<Held, 'changed'>
}

/** The connection that writes. */
export interface Writer extends Holder {
  readonly carrier: Pick<MqttCarrier, 'send'>
  /** The carrier holds another number of bytes. */
  holds(before: number, bytes: number): void
  /** The client takes nothing. */
  unread(): void
  /** The carrier is closed already. */
  closed(): void
  /** The carrier has thrown. */
  failed(error: unknown): void
}

export class Writing {
  readonly #writer: Writer
  readonly #ports: WritingPorts
  /** Packets that the carrier does not have. */
  readonly #gathered: Buffer[] = []
  #gatheredBytes = 0
  #isFlushDue = false
  #carrierBytes = 0
  /** Bytes of the last flush that the client has not taken, here and in the carrier. */
  #heldBytes = 0
  #isOver = false
  #whenTaken: (() => void)[] = []
  #cancelDeadline: (() => void) | undefined

  constructor(writer: Writer, ports: WritingPorts) {
    this.#writer = writer
    this.#ports = ports
  }

  /** True when the client has to take some of what is held before there is more. (writing/1) */
  get isSlow(): boolean {
    return this.#heldBytes > HELD_PAUSE
  }

  /** Sends bytes at the end of this pass. */
  add(bytes: Buffer): void {
    this.#gathered.push(bytes)
    this.#gatheredBytes += bytes.length
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    this.#ports.runtime.soon(() => {
      this.#isFlushDue = false
      this.flush()
    })
  }

  flush(): void {
    this.#pour(false)
  }

  /** True when more may be made for the client; otherwise `taken` tells when. (writing/1) */
  hasRoom(): boolean {
    if (this.#gatheredBytes + this.#heldBytes > HELD_PAUSE) this.flush()
    return !this.isSlow
  }

  /** Resolves once the client has taken enough for more, or is gone. */
  async taken(): Promise<void> {
    if (!this.isSlow || this.#isOver) return
    await new Promise<void>((resolve) => this.#whenTaken.push(resolve))
  }

  /** The carrier has sent something and holds so many bytes. */
  drained(bytes: number): void {
    const hasTaken = bytes < this.#carrierBytes
    this.#carrierBytes = bytes
    this.#pour(hasTaken)
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelDeadline?.()
    this.#resolve()
    this.#ports.held.changed(this.#writer, 0)
  }

  #pour(hasTaken: boolean): void {
    while (this.#gathered.length > 0 && this.#carrierBytes <= HELD_PAUSE && !this.#isOver) {
      const held = this.#sent(this.#part()) // writing/3
      if (held === 'closed') return this.#writer.closed()
      this.#carrierBytes = held
    }
    const before = this.#heldBytes
    const held = this.#carrierBytes + this.#gatheredBytes
    if (this.#isOver || (held === before && !hasTaken)) return
    this.#heldBytes = held
    this.#watch(hasTaken)
    if (!this.isSlow) this.#resolve()
    if (held > HELD_MAX) return this.#writer.cut() // writing/2
    this.#ports.held.changed(this.#writer, held) // writing/2
    this.#writer.holds(before, held)
  }

  /** The next packets, as few as have HELD_PAUSE bytes. */
  #part(): Buffer {
    let bytes = 0
    let count = 0
    for (const { length } of this.#gathered) {
      if (bytes >= HELD_PAUSE) break
      bytes += length
      count += 1
    }
    this.#gatheredBytes -= bytes
    return Buffer.concat(this.#gathered.splice(0, count))
  }

  /** writing/3 */
  #watch(hasTaken: boolean): void {
    if (this.isSlow && !hasTaken && this.#cancelDeadline !== undefined) return
    this.#cancelDeadline?.()
    this.#cancelDeadline = this.isSlow
      ? this.#ports.runtime.after(TAKES_WITHIN_MS, () => this.#writer.unread())
      : undefined
  }

  #resolve(): void {
    for (const resolve of this.#whenTaken.splice(0)) resolve()
  }

  #sent(bytes: Buffer): number | 'closed' {
    try {
      return this.#writer.carrier.send(bytes)
    } catch (error) {
      this.#writer.failed(error)
      return 'closed'
    }
  }
}
