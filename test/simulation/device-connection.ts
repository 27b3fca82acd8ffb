// The connection of a device to a gateway, over a network that delays and breaks.

import type { Carrier, SessionHandle } from '#src/transports/carrier'
import type { Sessions } from '#src/transports/sessions'
import { between } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'

/** Where a device finds a gateway. */
export interface Destination {
  readonly sessions: Sessions
  readonly owner: Owner
}

/** The network of devices. */
export interface Network {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly delayMs: () => number
}

const SILENT_MS = 60_000

export interface Handlers {
  readonly hear: (text: string) => void
  /** Called when the connection has ended; the device comes back after a delay. */
  readonly end: (delayMs: number) => void
}

/** One connection of a device to one process. */
export class Connection implements Carrier {
  readonly kind = 'wss'
  readonly openingMs = 0
  readonly address = '192.0.2.1'
  readonly authorization = ''
  isWelcome = false
  /** The last seq of each channel in this session. */
  seen = new Map<string, number>()
  readonly #parts: Network
  readonly #owner: Owner
  readonly #handlers: Handlers
  #handle: SessionHandle | undefined
  #isBroken = false
  #isClosed = false
  #arrivals = { there: 0, back: 0 }
  #unacknowledged = new Map<string, number>()
  #heardMs: number

  constructor(parts: Network, { sessions, owner }: Destination, handlers: Handlers) {
    this.#parts = parts
    this.#owner = owner
    this.#handlers = handlers
    this.#heardMs = parts.time.now
    this.#pass('there', () => {
      this.#handle = sessions.open(this)
    })
    this.#watch()
  }

  say(frame: object): void {
    const text = JSON.stringify(frame)
    this.#pass('there', () => this.#handle?.receive(text))
  }

  /** Acknowledges what came together, once. */
  acknowledge(channelId: string, seq: number): void {
    const isFirst = this.#unacknowledged.size === 0
    this.#unacknowledged.set(channelId, seq)
    if (!isFirst) return
    this.#parts.time.after(between(this.#parts.chance, 0, 50), () => {
      const acknowledged = [...this.#unacknowledged]
      this.#unacknowledged.clear()
      for (const [id, upTo] of acknowledged) this.say({ type: 'ack', channel_id: id, seq: upTo })
    })
  }

  /** The device is gone; `isTold`: the gateway learns of it. */
  break(isTold: boolean): void {
    if (isTold) this.#pass('there', () => this.#handle?.closed())
    this.#isBroken = true
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.#isClosed) return 'closed'
    this.#pass('back', () => {
      this.#heardMs = this.#parts.time.now
      for (const text of texts) if (!this.#isBroken) this.#handlers.hear(text)
    })
    return 0
  }

  close(): void {
    this.#close()
  }

  cut(): void {
    this.#close()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#parts.time.after(0, () => this.#handle?.closed(), this.#owner)
    this.#pass('back', () => this.#handlers.end(between(this.#parts.chance, 50, 1_000)))
  }

  #pass(way: 'there' | 'back', arrive: () => void): void {
    const { time, delayMs } = this.#parts
    if (this.#isBroken) return
    const at = Math.max(this.#arrivals[way], time.now + delayMs())
    this.#arrivals[way] = at
    const arrived = (): void => {
      if (way === 'there' ? !this.#isClosed : !this.#isBroken) arrive()
    }
    time.after(at - time.now, arrived, way === 'there' ? this.#owner : undefined)
  }

  /** A connection to a process that is gone, or silent for too long. */
  #watch(): void {
    this.#parts.time.after(1_000, () => {
      if (this.#isBroken || this.#isClosed) return
      const isSilent = this.#parts.time.now - this.#heardMs > SILENT_MS
      if (this.#owner.state !== 'dead' && !isSilent) return this.#watch()
      this.break(true)
      this.#handlers.end(between(this.#parts.chance, 50, 2_000))
    })
  }
}
