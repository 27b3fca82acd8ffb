// Bounds the bytes that clients have sent and that are not done with: those of packets that have
// not arrived whole, wait for their turn, or are on their way to the log.
//
// Invariants:
//   in-flight/1. Beyond the bound of its connection, of its address or of all together a connection
//                is not read on, until enough is done with.
//   in-flight/2. Clients without credentials have bounds of their own, far smaller: they take no
//                room of others.

import { hostOf } from '#domain/host'

interface InFlightBounds {
  readonly perConnection: number
  readonly perAddress: number
  readonly total: number
}

const IN_FLIGHT: InFlightBounds = {
  perConnection: 512 * 1_024,
  perAddress: 32 * 2 ** 20,
  total: 128 * 2 ** 20,
}
/** For clients whose credentials are not known to be good. (in-flight/2) */
export const STRANGERS: InFlightBounds = {
  perConnection: 64 * 1_024,
  perAddress: 4 * 2 ** 20,
  total: 32 * 2 ** 20,
}

export class InFlight {
  readonly #bounds: InFlightBounds
  readonly #byHost = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
  #bytes = 0

  constructor(bounds: InFlightBounds = IN_FLIGHT) {
    this.#bounds = bounds
  }

  /** The bound of one connection. */
  get perConnection(): number {
    return this.#bounds.perConnection
  }

  /** Bytes of all connections. */
  get bytes(): number {
    return this.#bytes
  }

  /** Connections that are not read because of the others. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** True when all connections together have reached their bound. */
  get isFull(): boolean {
    return this.#bytes >= this.#bounds.total
  }

  /** Opens the account of a connection. `resume` is called once there is room, if it waited. */
  open(address: string, resume: () => void): Account {
    return new Account(this, { host: hostOf(address), resume })
  }

  /** Counts the bytes of a host; less than nothing for those that are done with. */
  count(host: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#byHost.get(host) ?? 0) + bytes
    if (held === 0) this.#byHost.delete(host)
    else this.#byHost.set(host, held)
    if (bytes >= 0 || this.#waiting.size === 0 || this.isFull) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resume of waiting) resume()
  }

  /** True when a connection of this host may be read on; otherwise `resume` is called later. */
  hasRoom({ host, resume }: Owner, own: number): boolean {
    if (own >= this.#bounds.perConnection) return false
    const isFull = this.isFull || (this.#byHost.get(host) ?? 0) >= this.#bounds.perAddress
    if (isFull) this.#waiting.add(resume)
    return !isFull
  }

  /** Forgets that a connection waits. */
  forget({ resume }: Owner): void {
    this.#waiting.delete(resume)
  }
}

interface Owner {
  readonly host: string
  readonly resume: () => void
}

/** The bytes of one connection. */
export class Account {
  readonly #owner: Owner
  #inFlight: InFlight
  #bytes = 0
  #isClosed = false

  constructor(inFlight: InFlight, owner: Owner) {
    this.#inFlight = inFlight
    this.#owner = owner
  }

  /** True when the connection may be read on. (in-flight/1) */
  get hasRoom(): boolean {
    return this.#inFlight.hasRoom(this.#owner, this.#bytes)
  }

  /** True when there is no room for anybody. */
  get isTotalFull(): boolean {
    return this.#inFlight.isFull
  }

  /** True when the connection has sent twice what it may. */
  get isOverrun(): boolean {
    return this.#bytes >= 2 * this.#inFlight.perConnection
  }

  add(bytes: number): void {
    if (this.#isClosed) return
    this.#bytes += bytes
    this.#inFlight.count(this.#owner.host, bytes)
  }

  /** Counts among others from now on. (in-flight/2) */
  moveTo(inFlight: InFlight): void {
    if (this.#isClosed) return
    const bytes = this.#bytes
    this.#inFlight.forget(this.#owner)
    this.add(-bytes)
    this.#inFlight = inFlight
    this.add(bytes)
  }

  /** Ends the account: nothing of it counts any more. */
  close(): void {
    this.#inFlight.forget(this.#owner)
    this.add(-this.#bytes)
    this.#isClosed = true
  }
}
