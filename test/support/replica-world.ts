// A gateway in this thread, and devices of the SDK whose connections, reading and programs fail as
// the test says. What each of them has is compared with what the gateway has.

import type { ChannelId } from '#domain/identity'
import { memoryPositions } from '#src/client/position-store'
import { openReplica } from '#src/client/replica'
import type { Replica } from '#src/client/replica'
import { thingFrom } from '#src/client/view'
import type { ThingView } from '#src/client/view'
import type { Delivery } from '#src/schemas/frames'
import { thingToWire } from '#src/schemas/answers'
import type { ThingRecord } from '#src/client/bodies'
import { fakeFetch, refusal, success } from './fake-fetch.ts'
import type { Asked } from './fake-fetch.ts'
import { MemoryDevice } from './memory-device.ts'
import { MemoryLine } from './memory-line.ts'
import type { ShakyBus } from './shaky-bus.ts'
import type { SoleGateway } from './sole-gateway.ts'
import { channel, message, thing } from './submissions.ts'

const DEVICES = 2
const CHANNELS = 2
const PAGE = { limit: 1 }
const THINGS = 4
const ANSWER_MS = 20
const ACKNOWLEDGED_MS = 1_000
const ROUND_MS = 10_000
const ROUNDS_MAX = 60

let worlds = 0

/** Channels and devices of their own on a gateway that many worlds use. */
export class ReplicaWorld {
  readonly channels: readonly ChannelId[]
  readonly devices: readonly WorldDevice[]
  readonly #gateway: SoleGateway
  readonly #bus: ShakyBus
  readonly #sent: { readonly channelId: ChannelId; readonly opId: string }[] = []

  constructor(gateway: SoleGateway, bus: ShakyBus) {
    this.#gateway = gateway
    this.#bus = bus
    worlds += 1
    const first = worlds * CHANNELS
    this.channels = Array.from({ length: CHANNELS }, (_, index) => channel(first + index))
    this.devices = Array.from(
      { length: DEVICES },
      (_, index) => new WorldDevice(gateway, (worlds * 16 + index).toString(16).padStart(32, '0')),
    )
  }

  async begin(): Promise<void> {
    const { backend, runtime } = this.#gateway
    const { channels, devices, subscriptions } = backend.stores
    const ids = this.devices.map(({ key }) => new MemoryDevice(key).deviceId)
    for (const id of ids) await runtime.until(devices.create(id, 'linux', this.#now))
    for (const channelId of this.channels) {
      const made = { channelId, channelName: 'a channel', passwordHash: '', createdAt: this.#now }
      await runtime.until(channels.create(made))
      for (const id of ids) {
        await runtime.until(subscriptions.subscribe(id, channelId, this.#now))
      }
    }
    for (const device of this.devices) device.start()
    for (const channelId of this.channels) await this.#fill(channelId)
    await runtime.pass(ACKNOWLEDGED_MS)
  }

  /** So that a program that begins anew has Things to read. */
  async #fill(channelId: ChannelId): Promise<void> {
    for (const key of ['a', 'b']) {
      for (let id = 0; id < THINGS; id += 1) {
        await this.thing(channelId, `t${id}`, { action: 'update', key, value: id })
      }
    }
  }

  channelAt(index: number): ChannelId {
    const channelId = this.channels[index % CHANNELS]
    if (channelId === undefined) throw new Error('no channel')
    return channelId
  }

  deviceAt(index: number): WorldDevice {
    const device = this.devices[index % DEVICES]
    if (device === undefined) throw new Error('no device')
    return device
  }

  async message(channelId: ChannelId, bytes: number): Promise<void> {
    const fields = { body: 'x'.repeat(bytes) }
    const submission = message({ channelId, acceptedAt: this.#now, fields })
    this.#sent.push({ channelId, opId: submission.opId })
    await this.#gateway.runtime.until(this.#gateway.sink.accept(submission))
  }

  /** `value` null removes the key. */
  async thing(channelId: ChannelId, id: string, change: ThingChange): Promise<void> {
    const { action, key, value } = change
    const parts = { channelId, acceptedAt: this.#now, at: this.#now, attrs: { [key]: value } }
    await this.#gateway.runtime.until(this.#gateway.sink.accept(thing(action, id, parts)))
  }

  crash(device: number): Promise<void> {
    return this.#gateway.runtime.until(this.deviceAt(device).crash())
  }

  /** Sends the announcements held back, in any order; then the bus works as the argument says. */
  disturb(mode: ShakyBus['mode']): void {
    this.#bus.release(this.#gateway.runtime.random)
    this.#bus.mode = mode
  }

  pass(ms: number): Promise<void> {
    return this.#gateway.runtime.pass(ms)
  }

  /** Everything works again: passes time until nothing is missing; gives what still is. */
  async settle(): Promise<readonly string[]> {
    const { runtime } = this.#gateway
    this.#bus.mode = 'pass'
    this.#bus.release(runtime.random)
    for (const device of this.devices) device.heal()
    let missing: readonly string[] = []
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await runtime.pass(ROUND_MS)
      missing = [...this.#broken(), ...this.#unseen(), ...(await this.#differences())]
      if (missing.length === 0) break
    }
    return missing
  }

  async end(): Promise<void> {
    for (const device of this.devices) await this.#gateway.runtime.until(device.stop())
  }

  get #now(): number {
    return this.#gateway.runtime.nowMs()
  }

  #broken(): readonly string[] {
    return this.devices.flatMap(({ broken }) => broken)
  }

  #unseen(): readonly string[] {
    return this.devices.flatMap((device) =>
      this.#sent.flatMap(({ channelId, opId }) =>
        device.hasSeen(channelId, opId) ? [] : [`${device.key} has not seen ${opId}`],
      ),
    )
  }

  async #differences(): Promise<readonly string[]> {
    const differences: string[] = []
    for (const channelId of this.channels) {
      const page = this.#gateway.backend.stores.read.things({ channelId, limit: 200 })
      const { items } = await this.#gateway.runtime.until(page)
      const live = items.filter(({ state }) => state !== 'deleted')
      const kept = textOf(live.map((item) => thingFrom(thingToWire(item) as never as ThingRecord)))
      for (const { key, replica } of this.devices) {
        const known = textOf([...(replica?.things(channelId).values() ?? [])])
        if (known !== kept) differences.push(`${key}: ${known}\ninstead of ${kept}`)
      }
    }
    return differences
  }
}

export interface ThingChange {
  readonly action: 'update' | 'archive' | 'delete'
  readonly key: string
  readonly value: number | null
}

const byName = <Pair extends readonly [string, unknown]>(pairs: readonly Pair[]): readonly Pair[] =>
  pairs.toSorted(([one], [other]) => (one < other ? -1 : 1))

const textOf = (things: readonly ThingView[]): string =>
  JSON.stringify(
    things
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .map(({ id, state, rev, seq, fields, attrs, externalIds }) => {
        const sorted = [fields, attrs, externalIds].map((part) => byName(Object.entries(part)))
        return [id, state, rev, seq, ...sorted]
      }),
  )

/** A device over all its programs. */
class WorldDevice {
  readonly key: string
  readonly line: MemoryLine
  replica: Replica | undefined
  /** Rules that were broken. */
  readonly broken: string[] = []
  readonly #gateway: SoleGateway
  readonly #store = memoryPositions()
  readonly #seen = new Set<string>()
  #isAlive = { value: false }

  constructor(gateway: SoleGateway, key: string) {
    this.#gateway = gateway
    this.key = key
    this.line = new MemoryLine(gateway.sessions)
  }

  hasSeen(channelId: ChannelId, opId: string): boolean {
    return this.#seen.has(`${channelId} ${opId}`)
  }

  start(): void {
    const isAlive = { value: true }
    this.#isAlive = isAlive
    const { runtime } = this.#gateway
    const last = new Map<ChannelId, number>()
    this.replica = openReplica({
      baseUrl: 'http://gateway',
      deviceKey: this.key,
      carrier: (events) => this.line.carrier(events),
      store: {
        load: () => this.#store.load(),
        save: async (positions) => {
          if (isAlive.value) await this.#store.save(positions)
        },
      },
      runtime: {
        fetch: fakeFetch((asked) => this.#answer(asked)),
        after: runtime.after,
        random: runtime.random,
        entropy: (bytes) => Uint8Array.from(runtime.entropy(bytes)),
        report: (error) => {
          throw error
        },
      },
      onEntry: (delivery) => {
        if (isAlive.value) this.#took(delivery, last)
      },
    })
  }

  /** The program is gone at once: nothing more is saved, and no end of its connection noticed it. */
  async crash(): Promise<void> {
    this.#isAlive.value = false
    this.line.cut('gateway')
    await this.stop()
    this.start()
  }

  heal(): void {
    this.line.isDown = false
    this.line.isSlow = false
    this.line.read(Infinity)
  }

  stop(): Promise<void> {
    return this.replica?.close() ?? Promise.resolve()
  }

  #took(
    { channelId, seq, opId, model, entityId, rev = 0 }: Delivery,
    last: Map<ChannelId, number>,
  ) {
    const isAgain = seq <= (last.get(channelId) ?? 0)
    if (isAgain) this.broken.push(`${seq} came again to one program`)
    last.set(channelId, seq)
    if (model === 'message') this.#seen.add(`${channelId} ${opId}`)
    const known = model === 'thing' ? this.replica?.thing(channelId, entityId) : undefined
    if (known !== undefined && known.rev < rev) this.broken.push(`${entityId} is behind its entry`)
  }

  /** Things change between two pages, and between a read and its answer. */
  async #answer(asked: Asked): Promise<Response> {
    const answer = await this.#read(asked)
    await this.#gateway.runtime.wait(ANSWER_MS)
    return answer
  }

  /** Reads of Things, as the gateway answers them; in small pages. */
  async #read({ path, body }: Asked): Promise<Response> {
    const { read } = this.#gateway.backend.stores
    const channelId = body['channel_id'] as ChannelId
    if (path === '/thing/get') {
      const found = await read.thing(channelId, String(body['thing_id']))
      return found === undefined ? refusal(404, 'entity_not_found') : success(thingToWire(found))
    }
    const { cursor } = body
    const before = typeof cursor === 'string' ? { before: Number(cursor) } : {}
    const page = await read.things({ channelId, ...PAGE, ...before })
    const next_cursor = page.next?.toString()
    return success({ items: page.items.map(thingToWire), next_cursor })
  }
}
