// Follows the two buckets as they change, and reads them whole after each interruption.
//
// Invariants:
//   lease-sight/1. A node decides nothing on part of a bucket: a bucket is whole once an entry came
//     that is not older than its last one when reading began. The consumer's own count of entries
//     to come does not help: it includes entries that newer ones have replaced (server 2.9).

import type { JetStreamManager } from '@nats-io/jetstream'
import type { Msg } from '@nats-io/transport-node'

import { reasonOf } from './connection.ts'
import { Consumption } from './consumption.ts'
import type { ConsumptionPorts } from './consumption.ts'
import type { Delivery } from './delivery.ts'
import { BASE_KEY, LANE_KEY, decodeNode } from './lease-buckets.ts'
import type { HeardNode, LaneKey } from './lease-plan.ts'

export interface SightPorts extends ConsumptionPorts {
  readonly manager: JetStreamManager
}

export interface SightOptions {
  /** The buckets' names. */
  readonly nodes: string
  readonly lanes: string
  /** Called after each change. */
  readonly changed: () => void
}

const OPERATION_HEADER = 'KV-Operation'
const ROOM_BYTES = 2 ** 20

interface Seen extends HeardNode {
  readonly atMs: number
}

/** The progress of reading one bucket since its consumer was made. */
interface Reading {
  seenTo: number
  /** The bucket's last entry when reading began. */
  goal: number | 'unknown'
  isWhole: boolean
}

type Which = 'nodes' | 'lanes'

const newReading = (): Reading => ({ seenTo: 0, goal: 'unknown', isWhole: false })

/** Both buckets as they were last seen. */
export class LeaseSight {
  readonly #ports: SightPorts
  readonly #options: SightOptions
  readonly #consumptions: Readonly<Record<Which, Consumption>>
  readonly #nodes = new Map<string, Seen>()
  readonly #lanes = new Map<number, LaneKey>()
  readonly #readings: Record<Which, Reading> = { nodes: newReading(), lanes: newReading() }
  #epochBase: number | undefined

  constructor(ports: SightPorts, options: SightOptions) {
    this.#ports = ports
    this.#options = options
    this.#consumptions = {
      nodes: this.#follow('nodes', (key, entry) => this.#onNode(key, entry)),
      lanes: this.#follow('lanes', (key, entry) => this.#onLane(key, entry)),
    }
  }

  start(): void {
    for (const consumption of Object.values(this.#consumptions)) consumption.start()
  }

  stop(): void {
    for (const consumption of Object.values(this.#consumptions)) consumption.stop()
  }

  /** Reads both buckets anew: they may have been replaced. */
  again(): void {
    for (const consumption of Object.values(this.#consumptions)) consumption.again('made anew')
  }

  /** False until both buckets were read to their end, and again after each interruption. */
  get isWhole(): boolean {
    const { nodes, lanes } = this.#readings
    const isOpen = Object.values(this.#consumptions).every((consumption) => consumption.isOpen)
    return isOpen && nodes.isWhole && lanes.isWhole && this.#epochBase !== undefined
  }

  get epochBase(): number {
    return this.#epochBase ?? 0
  }

  get nodes(): readonly HeardNode[] {
    return [...this.#nodes.values()]
  }

  get lanes(): ReadonlyMap<number, LaneKey> {
    return this.#lanes
  }

  /** Notes this node's own write before the bucket reports it. */
  wrote(lane: number, key: LaneKey): void {
    const known = this.#lanes.get(lane)
    if (known === undefined || known.revision < key.revision) this.#lanes.set(lane, key)
  }

  /** Drops nodes that have been silent for longer. */
  forget(silentMs: number): void {
    const now = this.#ports.monotonicMs()
    for (const [session, { heardMs }] of this.#nodes) {
      if (now - heardMs > silentMs) this.#nodes.delete(session)
    }
  }

  #follow(
    which: Which,
    onEntry: (
      key: string,
      entry: { readonly text: string; readonly revision: number; readonly atMs: number },
    ) => void,
  ): Consumption {
    const bucket = this.#options[which]
    const subject = `$KV.${bucket}.>`
    return new Consumption(this.#ports, {
      stream: `KV_${bucket}`,
      subject,
      begin: () => ({ kind: 'newest' }),
      room: () => ROOM_BYTES,
      take: ({ position, atMs }: Delivery, message: Msg) => {
        const isGone = (message.headers?.get(OPERATION_HEADER) ?? '') !== ''
        const key = message.subject.slice(subject.length - 1)
        onEntry(key, { text: isGone ? '' : message.string(), revision: position, atMs })
        this.#readings[which].seenTo = position
        this.#judge(which)
        this.#options.changed()
      },
      opened: () => {
        // A new bucket counts revisions from the beginning, so earlier sights say nothing.
        if (which === 'lanes') {
          this.#lanes.clear()
          this.#epochBase = undefined
        }
        void this.#findGoal(which)
      },
      lacksEntry: async () => (await this.#lastOf(which)) > this.#readings[which].seenTo,
    })
  }

  async #lastOf(which: Which): Promise<number> {
    const { state } = await this.#ports.manager.streams.info(`KV_${this.#options[which]}`)
    return state.last_seq
  }

  async #findGoal(which: Which): Promise<void> {
    const reading = newReading()
    this.#readings[which] = reading
    try {
      reading.goal = await this.#lastOf(which)
      if (this.#readings[which] === reading) this.#judge(which)
    } catch (error) {
      if (this.#readings[which] === reading) this.#consumptions[which].again(reasonOf(error))
    }
  }

  /** lease-sight/1 */
  #judge(which: Which): void {
    const reading = this.#readings[which]
    if (reading.isWhole || reading.goal === 'unknown' || reading.seenTo < reading.goal) return
    reading.isWhole = true
    if (which === 'lanes') {
      this.#epochBase ??= 0
      return
    }
    // The server's clock tells the age of earlier heartbeats; from now on our own clock does.
    const now = this.#ports.monotonicMs()
    const newestMs = Math.max(0, ...[...this.#nodes.values()].map(({ atMs }) => atMs))
    for (const [session, node] of this.#nodes) {
      const heardMs = Math.min(node.heardMs, now - (newestMs - node.atMs))
      this.#nodes.set(session, { ...node, heardMs })
    }
  }

  #onNode(session: string, { text, atMs }: { readonly text: string; readonly atMs: number }): void {
    if (text === '') {
      this.#nodes.delete(session)
      return
    }
    const heardMs = this.#ports.monotonicMs()
    this.#nodes.set(session, { ...decodeNode(session, text), heardMs, atMs })
  }

  #onLane(
    key: string,
    { text, revision }: { readonly text: string; readonly revision: number },
  ): void {
    const lane = LANE_KEY.exec(key)?.[1]
    if (lane !== undefined) this.#lanes.set(Number(lane), { owner: text, revision })
    else if (key === BASE_KEY) this.#epochBase = Number(text)
  }
}
