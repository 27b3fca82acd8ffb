// A connection in memory between a device of the SDK and the sessions of a gateway. It can be cut,
// also so that one end does not notice, and the device can read slowly.

import type { Carrier as DeviceCarrier, CarrierEvents, Connection } from '#src/client/carrier'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import type { Sessions } from '#src/transports/sessions'

/** Which ends notice that a connection is cut. */
export type Noticed = 'both' | 'device' | 'gateway' | 'nobody'

/** The way of one device to the gateway, over connection after connection. */
export class MemoryLine {
  /** True: nothing is read but by `read`. */
  isSlow = false
  isDown = false
  readonly #sessions: Sessions
  #link: Link | undefined

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  readonly carrier: DeviceCarrier = (events) => {
    if (this.isDown) {
      queueMicrotask(() => events.closed('connection failed'))
      return { send: () => undefined, close: () => undefined }
    }
    const link = new Link(events, () => this.isSlow)
    this.#link = link
    queueMicrotask(() => link.open(this.#sessions))
    return link.device
  }

  read(count: number): void {
    this.#link?.read(count)
  }

  cut(noticed: Noticed): void {
    this.#link?.cutBy(noticed)
  }
}

class Link implements Carrier {
  readonly kind = 'wss'
  readonly openingMs = 0
  readonly address = '192.0.2.1'
  readonly authorization = ''
  readonly #events: CarrierEvents
  readonly #isSlow: () => boolean
  readonly #held: string[] = []
  #handle: SessionHandle | undefined
  #isCut = false
  #isEnding = false
  #deviceKnows = false
  #gatewayKnows = false

  constructor(events: CarrierEvents, isSlow: () => boolean) {
    this.#events = events
    this.#isSlow = isSlow
  }

  readonly device: Connection = {
    // Later: a session is never called back while it is being told.
    send: (text) =>
      queueMicrotask(() => {
        if (!this.#isCut && !this.#gatewayKnows) this.#handle?.receive(text)
      }),
    close: () => this.cutBy('gateway'),
  }

  open(sessions: Sessions): void {
    if (this.#isCut) return
    this.#handle = sessions.open(this)
    this.#events.opened()
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.#gatewayKnows || this.#isEnding) return 'closed'
    if (this.#isCut) return 0
    this.#held.push(...texts)
    if (!this.#isSlow()) queueMicrotask(() => this.read(Infinity))
    return this.#heldBytes
  }

  close(): void {
    this.#isEnding = true
    if (this.#held.length === 0) this.cutBy('both')
  }

  cut(): void {
    this.cutBy('both')
  }

  /** The device reads so many frames. */
  read(count: number): void {
    for (const text of this.#held.splice(0, count)) {
      if (!this.#isCut && !this.#deviceKnows) this.#events.received(text)
    }
    if (!this.#isCut && !this.#gatewayKnows) this.#handle?.drained(this.#heldBytes)
    if (this.#isEnding && this.#held.length === 0) this.cutBy('both')
  }

  cutBy(noticed: Noticed): void {
    this.#isCut = true
    this.#held.length = 0
    if (noticed === 'both' || noticed === 'device') this.#tellDevice()
    if (noticed === 'both' || noticed === 'gateway') this.#tellGateway()
  }

  get #heldBytes(): number {
    return this.#held.reduce((sum, text) => sum + text.length, 0)
  }

  #tellDevice(): void {
    if (this.#deviceKnows) return
    this.#deviceKnows = true
    queueMicrotask(() => this.#events.closed('connection lost'))
  }

  #tellGateway(): void {
    if (this.#gatewayKnows) return
    this.#gatewayKnows = true
    queueMicrotask(() => this.#handle?.closed())
  }
}
