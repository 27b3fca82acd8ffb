// Bounds the connections of one door, in total and from one address, and counts the
// connections that it refused before their protocol began.

import type { FaultCode } from '#domain/fault'
import { Arriving } from './arriving.ts'
import { Slots } from '#domain/bounds/slots'
import type { Slot, SlotBounds, SlotRefusal } from '#domain/bounds/slots'
import type { Meter } from '#domain/telemetry'

/** The reason for which a connection ended before its protocol began. */
export type Refusal =
  | SlotRefusal
  | Extract<FaultCode, 'missing_websocket_subprotocol'>
  /** The PROXY header, the TLS handshake or the stream did not come in time. */
  | 'late'
  | 'broken_proxy_header'
  | 'failed_handshake'

export class ConnectionLimits {
  /** What this door's peers have sent of unfinished messages. */
  readonly arriving = new Arriving()
  /** Bytes that the library of a door may hold of each connection, unseen, for those open now. */
  readonly #unseen: (() => number)[] = []
  readonly #slots: Slots
  readonly #count: (reason: Refusal) => void

  constructor(carrier: string, bounds: SlotBounds, meter: Meter) {
    this.#slots = new Slots(bounds)
    const counters = new Map<Refusal, () => void>()
    this.#count = (reason) => {
      const counter =
        counters.get(reason) ?? meter.counter('connections_refused_total', { carrier, reason })
      counters.set(reason, counter)
      counter()
    }
    meter.gauge('device_connections', { carrier }, () => this.#slots.taken)
    meter.gauge('device_arriving_bytes', { carrier }, () =>
      this.#unseen.reduce((sum, bytes) => sum + bytes(), this.arriving.bytes),
    )
  }

  /** Takes a slot for a connection from an address, or counts a refusal and returns its reason. */
  take(address: string): Slot | SlotRefusal {
    const slot = this.#slots.take(address)
    if (typeof slot === 'string') this.refused(slot)
    return slot
  }

  /** Connections that have a slot. */
  get taken(): number {
    return this.#slots.taken
  }

  /** Counts bytes that a library may hold and does not show: the most that it can be. */
  reserves(bytes: () => number): void {
    this.#unseen.push(bytes)
  }

  /** Counts a connection that ends before its protocol begins. */
  refused(reason: Refusal): void {
    this.#count(reason)
  }
}
