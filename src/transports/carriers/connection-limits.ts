// Bounds the connections of devices on one carrier, in total and from one address, and counts the
// connections that it refused before they had a session.
//
// Invariants:
//   connection-limits/1. A connection has one slot from its beginning to its end, in the total and
//     for its address; an address without connections uses no memory.

import type { CarrierName } from '#domain/carrier'
import type { FaultCode } from '#domain/fault'
import { hostOf } from '#domain/host'
import type { Meter } from '#domain/telemetry'

export interface ConnectionBounds {
  readonly total: number
  readonly perAddress: number
}

/** The reason for which a connection ended before it had a session. */
export type Refusal =
  | Extract<FaultCode, 'server_busy' | 'rate_limited' | 'missing_websocket_subprotocol'>
  /** The PROXY header, the TLS handshake or the stream did not come in time. */
  | 'late'
  | 'broken_proxy_header'
  | 'failed_handshake'

export interface ConnectionSlot {
  /** Frees the slot; only the first call counts. */
  release(): void
}

export class ConnectionLimits {
  readonly #bounds: ConnectionBounds
  readonly #byHost = new Map<string, number>()
  readonly #count: (reason: Refusal) => void
  #taken = 0

  constructor(carrier: CarrierName, bounds: ConnectionBounds, meter: Meter) {
    this.#bounds = bounds
    const counters = new Map<Refusal, () => void>()
    this.#count = (reason) => {
      const counter =
        counters.get(reason) ?? meter.counter('connections_refused_total', { carrier, reason })
      counters.set(reason, counter)
      counter()
    }
    meter.gauge('device_connections', { carrier }, () => this.#taken)
  }

  /** Takes a slot for a connection from an address, or counts a refusal and gives its reason. */
  take(address: string): ConnectionSlot | 'server_busy' | 'rate_limited' {
    const host = hostOf(address)
    const known = this.#byHost.get(host) ?? 0
    const isFull = this.#taken >= this.#bounds.total
    if (isFull || known >= this.#bounds.perAddress) {
      const reason = isFull ? 'server_busy' : 'rate_limited'
      this.refused(reason)
      return reason
    }
    this.#taken += 1
    this.#byHost.set(host, known + 1)
    return new TakenSlot(host, this.#released)
  }

  /** Counts a connection that ends without a session. */
  refused(reason: Refusal): void {
    this.#count(reason)
  }

  /** Frees one slot of an address. (connection-limits/1) */
  readonly #released = (host: string): void => {
    this.#taken -= 1
    const remaining = (this.#byHost.get(host) ?? 1) - 1
    if (remaining === 0) this.#byHost.delete(host)
    else this.#byHost.set(host, remaining)
  }
}

class TakenSlot implements ConnectionSlot {
  readonly #released: (host: string) => void
  #host: string | undefined

  constructor(host: string, released: (host: string) => void) {
    this.#host = host
    this.#released = released
  }

  release(): void {
    if (this.#host !== undefined) this.#released(this.#host)
    this.#host = undefined
  }
}
