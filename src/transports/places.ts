// Bounds the connections of devices on one carrier, in total and from one address, and counts those
// that were refused before they had a session.
//
// Invariants:
//   places/1. A connection holds one place from its beginning to its end, in the total and under
//             its address; an address without connections leaves nothing behind.

import type { CarrierName } from '#domain/carrier'
import type { FaultCode } from '#domain/fault'
import { hostOf } from '#domain/host'
import type { Meter } from '#domain/telemetry'

export interface PlaceLimits {
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

export interface Place {
  /** Gives the place back; only the first call counts. */
  release(): void
}

export class Places {
  readonly #limits: PlaceLimits
  readonly #byHost = new Map<string, number>()
  readonly #count: (reason: Refusal) => void
  #taken = 0

  constructor(carrier: CarrierName, limits: PlaceLimits, meter: Meter) {
    this.#limits = limits
    const counters = new Map<Refusal, () => void>()
    this.#count = (reason) => {
      const counter =
        counters.get(reason) ?? meter.counter('connections_refused_total', { carrier, reason })
      counters.set(reason, counter)
      counter()
    }
    meter.gauge('device_connections', { carrier }, () => this.#taken)
  }

  /**
   * Takes a place for a connection from an address, or gives the reason why there is none, and
   * counts it.
   */
  take(address: string): Place | 'server_busy' | 'rate_limited' {
    const host = hostOf(address)
    const known = this.#byHost.get(host) ?? 0
    const isFull = this.#taken >= this.#limits.total
    if (isFull || known >= this.#limits.perAddress) {
      const reason = isFull ? 'server_busy' : 'rate_limited'
      this.refused(reason)
      return reason
    }
    this.#taken += 1
    this.#byHost.set(host, known + 1)
    return new HeldPlace(host, this.#released)
  }

  /** Counts a connection that ends without a session. */
  refused(reason: Refusal): void {
    this.#count(reason)
  }

  /** places/1 */
  readonly #released = (host: string): void => {
    this.#taken -= 1
    const left = (this.#byHost.get(host) ?? 1) - 1
    if (left === 0) this.#byHost.delete(host)
    else this.#byHost.set(host, left)
  }
}

class HeldPlace implements Place {
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
