// One device's session: hands entries to the counter, times them, and acknowledges.

import { EntryCounter } from './entry-counter.ts'
import type { Tally } from './entry-counter.ts'
import { monotonicUs } from './monotonic.ts'
import type { Latencies } from './statistics.ts'
import { LeanWebSocket } from './websocket.ts'

/** The member that names a frame. (decisions.md 10) */
const FRAME_NAME = 'type'
const ACK_EVERY = 64

export interface Greeting {
  readonly deviceKey: string
  readonly token: string
  readonly replayed: readonly string[]
}

export class Subscription {
  readonly #socket: LeanWebSocket
  readonly #tally: Tally
  readonly #latencies: Latencies
  readonly #counter: EntryCounter
  readonly #unacked = new Map<string, number>()
  #unackedCount = 0
  #welcome: (() => void) | undefined
  #nowUs = 0

  constructor(
    { port, token }: { readonly port: number; readonly token: string },
    { tally, latencies }: { tally: Tally; latencies: Latencies },
  ) {
    this.#tally = tally
    this.#counter = new EntryCounter(tally)
    this.#latencies = latencies
    this.#socket = new LeanWebSocket(
      { port, token, path: '/private/ws', subprotocol: 'heliograph.v1' },
      {
        text: (bytes) => this.#text(bytes),
        readEnded: () => this.#readEnded(),
        closed: () => {
          tally.closed += 1
        },
      },
    )
  }

  /** Resolves after the gateway's welcome. */
  async greet({ deviceKey, token, replayed }: Greeting): Promise<void> {
    await this.#socket.upgraded()
    const gatewayToken = token === '' ? {} : { gateway_token: token }
    const cursors = Object.fromEntries(replayed.map((channel) => [channel, 0]))
    const welcomed = new Promise<void>((resolve) => {
      this.#welcome = resolve
    })
    this.#socket.send([
      JSON.stringify({ [FRAME_NAME]: 'hello', device_key: deviceKey, cursors, ...gatewayToken }),
    ])
    return welcomed
  }

  close(): void {
    this.#socket.close()
  }

  #text(bytes: Buffer): void {
    if (this.#nowUs === 0) this.#nowUs = monotonicUs()
    const text = bytes.toString('latin1')
    if (text.includes('"op_id":')) this.#entry(text)
    else this.#control(bytes.toString())
  }

  #entry(text: string): void {
    const entry = this.#counter.count(text)
    if (entry === undefined) return
    this.#unacked.set(entry.channel, entry.seq)
    this.#unackedCount += 1
    if (entry.dueUs !== undefined) this.#latencies.add(this.#nowUs - entry.dueUs)
    if (this.#unackedCount >= ACK_EVERY) this.#acknowledge()
  }

  #control(text: string): void {
    const frame: unknown = JSON.parse(text)
    const name: unknown =
      typeof frame === 'object' && frame !== null ? Reflect.get(frame, FRAME_NAME) : ''
    if (name === 'welcome') this.#welcome?.()
    else if (name === 'gap') this.#tally.gaps += 1
    else if (name === 'caught_up') this.#tally.caughtUp += 1
    else if (name === 'ping') this.#socket.send([JSON.stringify({ [FRAME_NAME]: 'pong' })])
  }

  #readEnded(): void {
    this.#nowUs = 0
  }

  #acknowledge(): void {
    this.#socket.send(
      Array.from(
        this.#unacked,
        ([channel, seq]) => `{"${FRAME_NAME}":"ack","channel_id":"${channel}","seq":${seq}}`,
      ),
    )
    this.#unacked.clear()
    this.#unackedCount = 0
  }
}
