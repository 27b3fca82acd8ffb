// A device that costs a gateway the same each time, and the counter of what it gets.

import type { Address } from '#test/bench/load/sender'
import { LeanWebSocket } from '#test/bench/load/websocket'
import type { Owner } from '#test/support/gateway'

/** Counts what comes, for those who wait for it. */
export class Arrivals {
  count = 0
  #next = Promise.withResolvers<void>()

  came(): void {
    this.count += 1
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }

  async until(count: number): Promise<void> {
    while (this.count < count) await this.#next.promise
  }
}

interface Frame {
  readonly type?: string
  readonly channel_id?: string
  readonly seq?: number
  readonly op_id?: string
}

/** Follows its channels, and acknowledges when it is told to. */
export class Device {
  readonly entries = new Arrivals()
  readonly #welcomes = new Arrivals()
  readonly #pongs = new Arrivals()
  readonly #seqs = new Map<string, number>()
  readonly #socket: LeanWebSocket

  private constructor({ port, token }: Address) {
    const target = { port, token, path: '/private/ws', subprotocol: 'heliograph.v1' }
    this.#socket = new LeanWebSocket(target, {
      text: (bytes) => this.#take(JSON.parse(bytes.toString()) as Frame),
      readEnded: () => undefined,
      closed: () => undefined,
    })
  }

  static async open(t: Owner, address: Address, device_key: string): Promise<Device> {
    const device = new Device(address)
    t.teardown(() => device.#socket.close())
    await device.#socket.upgraded()
    device.#say({ type: 'hello', device_key, cursors: {}, gateway_token: address.token })
    await device.#welcomes.until(1)
    return device
  }

  /** Acknowledges what is here; resolves once the gateway has taken that. */
  async acknowledge(): Promise<void> {
    const wanted = this.#pongs.count + 1
    for (const [channel_id, seq] of this.#seqs) this.#say({ type: 'ack', channel_id, seq })
    this.#seqs.clear()
    this.#say({ type: 'ping' })
    await this.#pongs.until(wanted)
  }

  #say(frame: object): void {
    this.#socket.send([JSON.stringify(frame)])
  }

  #take({ type, channel_id = '', seq = 0, op_id }: Frame): void {
    if (type === 'welcome') this.#welcomes.came()
    else if (type === 'pong') this.#pongs.came()
    else if (op_id !== undefined) {
      this.#seqs.set(channel_id, seq)
      this.entries.came()
    }
  }
}
