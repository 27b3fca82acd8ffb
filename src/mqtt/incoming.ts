// The bytes of one client that have arrived and wait for their turn, packet by packet, and those of
// all that is not done with.
//
// Invariants:
//   incoming/1. A connection handles a bounded number of packets before others have a turn.

import { CONNECT_BYTES_MAX, PACKET_BYTES_MAX, PacketReader } from './codec.ts'
import type { BrokenPacket, Packet } from './codec.ts'
import type { MqttCarrier } from './carrier.ts'
import type { Account, InFlight } from './in-flight.ts'

/** The connection that the packets are for. */
interface Taker {
  /** False while the next packet has to wait. */
  readonly isReady: boolean
  readonly carrier: Pick<MqttCarrier, 'setReading'>
  /** Takes a packet, whose bytes count until they are done with, or why there will be none. */
  take(packet: Packet | BrokenPacket): void
}

/** Packets that are handled before others have a turn. (incoming/1) */
const PACKETS_A_TURN = 100

export class Incoming {
  readonly #account: Account
  readonly #taker: Taker
  readonly #soon: (task: () => void) => void
  readonly #reader = new PacketReader()
  #isStranger = true
  /** True when the packet at the front has not arrived whole. */
  #isPartial = false
  /** True while packets wait for the next turn. */
  #isTurnDue = false
  #isClosed = false

  constructor(account: Account, taker: Taker, soon: (task: () => void) => void) {
    this.#account = account
    this.#taker = taker
    this.#soon = soon
  }

  /** True when the connection may be read on. */
  get #hasRoom(): boolean {
    return (this.#reader.waitingBytes === 0 || this.#isPartial) && this.#account.hasRoom
  }

  /**
   * True when a packet is not whole and there is no room to wait for the rest, or when the carrier
   * read on although there was no room. A stranger waits for nobody. (in-flight/2)
   */
  get isStuck(): boolean {
    const { isTotalFull, isOverrun } = this.#account
    if (isOverrun || !this.#isPartial) return isOverrun
    return isTotalFull || (this.#isStranger && !this.#account.hasRoom)
  }

  receive(bytes: Buffer): void {
    this.#account.add(bytes.length)
    this.#reader.add(bytes)
  }

  /** Hands packets over while the taker is ready; reads on when none waits. */
  pump(): void {
    const taker = this.#taker
    for (let count = 0; taker.isReady; count += 1) {
      if (count === PACKETS_A_TURN) return this.#pumpLater() // incoming/1
      const packet = this.#reader.next(this.#isStranger ? CONNECT_BYTES_MAX : PACKET_BYTES_MAX)
      this.#isPartial = packet === undefined && this.#reader.waitingBytes > 0
      if (packet === undefined) break
      taker.take(packet)
    }
    if (this.#isClosed) return
    this.#reader.settle()
    taker.carrier.setReading(taker.isReady && this.#hasRoom)
  }

  #pumpLater(): void {
    this.#taker.carrier.setReading(false)
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    this.#soon(() => {
      this.#isTurnDue = false
      this.pump()
    })
  }

  done(bytes: number): void {
    if (bytes > 0) this.#account.add(-bytes)
  }

  /** The credentials are good: from now on packets have their own bound, and count in `among`. */
  entered(among: InFlight): void {
    this.#isStranger = false
    this.#account.moveTo(among)
  }

  close(): void {
    this.#isClosed = true
    this.#reader.clear()
    this.#account.close()
  }
}
