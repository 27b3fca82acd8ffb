// Entries of one channel to all of its subscribers: by the product, and by the topics of
// uWebSockets.js (D7).

import { fileURLToPath } from 'node:url'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import { keysOf } from './channel-keys.ts'
import { deviceKeysOf } from './device-keys.ts'
import { startGateway } from './gateway.ts'
import { prepareKeyed } from './keyed.ts'
import { Generator, Subscribers } from './load-process.ts'
import { CountsDiffer } from './rig.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'

const TOPICS = fileURLToPath(new URL('../denominators/topic-fan-out.ts', import.meta.url))
const NAME = 'fan-out'
const THINGS = 1_000
const CONNECTIONS = 64
const SETTLE_LIMIT_MS = 60_000
const CATCH_UP_MS = 2_000
/** Bytes of the product's frame for an update of 302 bytes. */
const FRAME_BYTES = 520

/** A server, its subscribers, and what makes entries for them. */
export class FanOut {
  readonly #server: Server
  readonly #subscribers: Subscribers
  /** Makes entries for so long; gives how many deliveries follow from them. */
  readonly #make: (durationMs: number) => Promise<number>
  readonly #end: () => Promise<void>

  private constructor(
    server: Server,
    subscribers: Subscribers,
    work: { readonly make: (durationMs: number) => Promise<number>; end?: () => Promise<void> },
  ) {
    this.#server = server
    this.#subscribers = subscribers
    this.#make = work.make
    this.#end = work.end ?? (() => Promise.resolve())
  }

  /** The product, with as many subscribers as a channel may have. */
  static async product(directory: string): Promise<FanOut> {
    const devices = { name: NAME, count: SUBSCRIBERS_MAX, channels: 1, among: 1 }
    const token = await prepareKeyed(directory, { channels: 1, devices })
    const server = await startGateway(directory, token)
    const generator = new Generator()
    const recipe = { token, keys: keysOf(1), thingCount: THINGS }
    await generator.connect({ ports: [server.port], connections: CONNECTIONS, recipe })
    const make = async (durationMs: number): Promise<number> => {
      const { accepted } = await generator.load({ pace: { kind: 'closed' }, durationMs })
      return accepted * SUBSCRIBERS_MAX
    }
    const subscribers = await connected(server, token)
    return new FanOut(server, subscribers, { make, end: () => generator.stop() })
  }

  /** D7 */
  static async topics(): Promise<FanOut> {
    const server = await startServer(TOPICS, {})
    const subscribers = await connected(server, '')
    const make = async (durationMs: number): Promise<number> => {
      const path = `/publish/${Math.round(durationMs)}/${FRAME_BYTES}`
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`)
      return Number(await answer.text()) * SUBSCRIBERS_MAX
    }
    return new FanOut(server, subscribers, { make })
  }

  /** Deliveries a second, from the first entry to the last delivery. */
  async rate(durationMs: number): Promise<number> {
    const before = await this.#subscribers.request({ kind: 'mark' })
    const startMs = performance.now()
    const expected = before.entries + before.skipped + (await this.#make(durationMs))
    const order = { kind: 'await', entries: expected, timeoutMs: SETTLE_LIMIT_MS } as const
    const after = await this.#subscribers.request(order)
    const seconds = (performance.now() - startMs) / 1_000
    const isWhole =
      after.entries + after.skipped === expected && after.repeated + after.closed === 0
    if (!isWhole) throw new CountsDiffer(`expected ${expected}, saw ${JSON.stringify(after)}`)
    // A conflated update was not delivered.
    return (after.entries - before.entries) / seconds
  }

  async stop(): Promise<void> {
    await Promise.all([this.#subscribers.stop(), this.#end()])
    await this.#server.stop()
  }
}

async function connected({ port }: Server, token: string): Promise<Subscribers> {
  const subscribers = new Subscribers()
  const deviceKeys = deviceKeysOf(NAME, SUBSCRIBERS_MAX)
  const target = { ports: [port], token, deviceKeys }
  await subscribers.request({ kind: 'connect', target })
  // Entries from before come within that time.
  await subscribers.request({
    kind: 'await',
    entries: Number.MAX_SAFE_INTEGER,
    timeoutMs: CATCH_UP_MS,
  })
  return subscribers
}
