// The packets of one client that have arrived and wait for their turn, and the bytes of all that is
// not done with.

import type { BrokenPacket, Packet } from './codec.ts'
import { PacketReader } from './codec.ts'
import type { Account } from './in-flight.ts'

export class Incoming {
  readonly #account: Account
  readonly #reader = new PacketReader()
  /** Undefined while none waits, as mostly. */
  #packets: readonly Packet[] | undefined
  #next = 0

  constructor(account: Account) {
    this.#account = account
  }

  /** True when the connection may be read on. */
  get hasRoom(): boolean {
    return this.#packets === undefined && this.#account.hasRoom
  }

  /**
   * True when a packet is not whole and there is no room to wait for the rest, or when the carrier
   * read on although there was no room.
   */
  get isStuck(): boolean {
    return (this.#reader.heldBytes > 0 && this.#account.isTotalFull) || this.#account.isOverrun
  }

  /** Takes bytes; returns why there will be no further packet, if so. */
  receive(bytes: Buffer): BrokenPacket | undefined {
    this.#account.add(bytes.length)
    const { packets, broken } = this.#reader.read(bytes)
    if (packets.length > 0) {
      this.#packets = this.#packets === undefined ? packets : this.#rest().concat(packets)
    }
    return broken
  }

  /** The next packet; its bytes count until they are done with. */
  next(): Packet | undefined {
    const packet = this.#packets?.[this.#next]
    this.#next += 1
    if (this.#next >= (this.#packets?.length ?? 0)) {
      this.#packets = undefined
      this.#next = 0
    }
    return packet
  }

  done(bytes: number): void {
    if (bytes > 0) this.#account.add(-bytes)
  }

  close(): void {
    this.#packets = undefined
    this.#next = 0
    this.#account.close()
  }

  #rest(): readonly Packet[] {
    const rest = this.#packets?.slice(this.#next) ?? []
    this.#next = 0
    return rest
  }
}
