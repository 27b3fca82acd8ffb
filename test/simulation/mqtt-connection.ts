// The connection of an MQTT client to a gateway, over a network that delays and breaks.

import { generate, parser } from 'mqtt-packet'
import type { Packet } from 'mqtt-packet'

import type { CarrierHandle, MqttCarrier } from '#src/mqtt/carrier'
import type { MqttDoor } from '#src/mqtt/door'
import type { Network } from './device-connection.ts'
import type { Owner } from './virtual-time.ts'

/** Where a client finds a gateway. */
export interface MqttDestination {
  readonly mqtt: MqttDoor
  readonly owner: Owner
}

export interface MqttHandlers {
  readonly hear: (packet: Packet) => void
  /** Called once, when the client learns that the connection has ended. */
  readonly end: () => void
}

export interface Speaker {
  readonly address: string
  readonly level: 4 | 5
}

/** A gateway that is gone is noticed by then. */
const NOTICE_MS = 1_000

/** One connection of a client to one process. */
export class MqttConnection implements MqttCarrier {
  readonly address: string
  readonly #level: 4 | 5
  readonly #network: Network
  readonly #owner: Owner
  readonly #handlers: MqttHandlers
  readonly #parser = parser()
  #handle: CarrierHandle | undefined
  #isReading = true
  /** What arrived while the gateway does not read. */
  #unread: Buffer[] = []
  /** `broken`: the client is gone. `closed`: the gateway has closed. */
  #state: 'open' | 'broken' | 'closed' = 'open'
  #arrivals = { there: 0, back: 0 }

  constructor(
    network: Network,
    { mqtt, owner }: MqttDestination,
    { address, level, ...handlers }: MqttHandlers & Speaker,
  ) {
    this.address = address
    this.#level = level
    this.#network = network
    this.#owner = owner
    this.#handlers = handlers
    this.#parser.on('packet', (packet) => {
      if (this.#state !== 'broken') handlers.hear(packet)
    })
    this.#pass('there', () => (this.#handle = mqtt.open(this, 0)))
    this.#watch()
  }

  say(packet: Packet): void {
    const bytes = generate(packet, { protocolVersion: this.#level })
    // A parser speaks the level of the CONNECT that it has seen.
    if (packet.cmd === 'connect') this.#parser.parse(bytes)
    this.#pass('there', () => this.#arrive(bytes))
  }

  /** The client is gone; `isTold`: the gateway learns of it. */
  break(isTold: boolean): void {
    if (isTold) this.#pass('there', () => this.#handle?.closed())
    this.#state = 'broken'
  }

  send(bytes: Buffer): number | 'closed' {
    if (this.#state === 'closed') return 'closed'
    this.#pass('back', () => {
      if (this.#state !== 'broken') this.#parser.parse(bytes)
    })
    return 0
  }

  setReading(isOn: boolean): void {
    this.#isReading = isOn
    if (isOn) for (const bytes of this.#unread.splice(0)) this.#arrive(bytes)
  }

  close(): void {
    if (this.#state !== 'open') return
    this.#pass('back', () => this.#end())
    this.#state = 'closed'
  }

  cut(): void {
    this.close()
  }

  #arrive(bytes: Buffer): void {
    if (this.#isReading) this.#handle?.receive(bytes)
    else this.#unread.push(bytes)
  }

  #end(): void {
    if (this.#state === 'broken') return
    this.#state = 'broken'
    this.#handlers.end()
  }

  #pass(way: 'there' | 'back', arrive: () => void): void {
    const { time, delayMs } = this.#network
    if (this.#state === 'broken') return
    const at = Math.max(this.#arrivals[way], time.now + delayMs())
    this.#arrivals[way] = at
    const arrived = (): void => {
      if (way === 'back' || this.#state !== 'closed') arrive()
    }
    time.after(at - time.now, arrived, way === 'there' ? this.#owner : undefined)
  }

  /** Notices a process that is gone. */
  #watch(): void {
    this.#network.time.after(NOTICE_MS, () => {
      if (this.#state === 'broken') return
      if (this.#owner.state === 'dead') this.#end()
      else this.#watch()
    })
  }
}
