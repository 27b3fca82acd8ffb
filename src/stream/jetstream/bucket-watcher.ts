// Follows the changes of the two buckets, and reads both from the start after each interruption.
//
// Invariants:
//   bucket-watcher/1. A node decides nothing by part of a bucket. The copy of a bucket is complete
//     once the watcher has received the entry that was the bucket's last one when reading began, or
//     a newer one. The consumer's own count of pending entries does not show that: it includes
//     entries that newer ones have replaced (server 2.9).

import type { JetStreamManager } from '@nats-io/jetstream'
import type { Msg } from '@nats-io/transport-node'

import { reasonOf } from './connection.ts'
import { Consumption } from './consumption.ts'
import type { ConsumptionPorts } from './consumption.ts'
import type { Delivery } from './delivery.ts'
import { BASE_KEY, LANE_KEY, decodeNode } from './lease-buckets.ts'
import type { ObservedNode, LaneKey } from './lease-plan.ts'

export interface BucketWatcherPorts extends ConsumptionPorts {
  readonly manager: JetStreamManager
}

export interface BucketWatcherOptions {
  /** The buckets' names. */
  readonly nodes: string
  readonly lanes: string
  /** Called after each change. */
  readonly changed: () => void
}

const OPERATION_HEADER = 'KV-Operation'
const ROOM_BYTES = 2 ** 20

interface StoredNode extends ObservedNode {
  /** The time of its last heartbeat, by the server's clock. */
  readonly storedMs: number
}

/** The progress of reading one bucket since the server created its consumer. */
interface Reading {
  /** The revision of the last entry received. */
  readTo: number
  /** The revision of the bucket's last entry when reading began. */
  target: number | 'unknown'
  isComplete: boolean
}

type BucketKind = 'nodes' | 'lanes'

const newReading = (): Reading => ({ readTo: 0, target: 'unknown', isComplete: false })

/** Keeps a copy of both buckets. */
export class BucketWatcher {
  readonly #ports: BucketWatcherPorts
  readonly #options: BucketWatcherOptions
  readonly #consumptions: Readonly<Record<BucketKind, Consumption>>
  readonly #nodes = new Map<string, StoredNode>()
  readonly #lanes = new Map<number, LaneKey>()
  readonly #readings: Record<BucketKind, Reading> = { nodes: newReading(), lanes: newReading() }
  #epochBase: number | undefined

  constructor(ports: BucketWatcherPorts, options: BucketWatcherOptions) {
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

  /** Reads both buckets from the start: a node may have replaced them. */
  reread(): void {
    const consumptions = Object.values(this.#consumptions)
    for (const consumption of consumptions) consumption.reopen('reading the bucket again')
  }

  /** True once the copies of both buckets are complete; false again after an interruption. */
  get isComplete(): boolean {
    const { nodes, lanes } = this.#readings
    const isOpen = Object.values(this.#consumptions).every((consumption) => consumption.isOpen)
    return isOpen && nodes.isComplete && lanes.isComplete && this.#epochBase !== undefined
  }

  get epochBase(): number {
    return this.#epochBase ?? 0
  }

  get nodes(): readonly ObservedNode[] {
    return [...this.#nodes.values()]
  }

  get lanes(): ReadonlyMap<number, LaneKey> {
    return this.#lanes
  }

  /** Adds this node's own write to the copy before the server delivers it. */
  noteWrite(lane: number, key: LaneKey): void {
    const known = this.#lanes.get(lane)
    if (known === undefined || known.revision < key.revision) this.#lanes.set(lane, key)
  }

  /** Forgets the nodes without a heartbeat for longer than `silentMs`. */
  forget(silentMs: number): void {
    const now = this.#ports.monotonicMs()
    for (const [session, { lastHeartbeatMs }] of this.#nodes) {
      if (now - lastHeartbeatMs > silentMs) this.#nodes.delete(session)
    }
  }

  #follow(
    bucket: BucketKind,
    onEntry: (
      key: string,
      entry: { readonly text: string; readonly revision: number; readonly atMs: number },
    ) => void,
  ): Consumption {
    const name = this.#options[bucket]
    const subject = `$KV.${name}.>`
    return new Consumption(this.#ports, {
      stream: `KV_${name}`,
      subject,
      begin: () => ({ kind: 'newest' }),
      room: () => ROOM_BYTES,
      receive: ({ position, atMs }: Delivery, message: Msg) => {
        const isDeleted = (message.headers?.get(OPERATION_HEADER) ?? '') !== ''
        const key = message.subject.slice(subject.length - 1)
        onEntry(key, { text: isDeleted ? '' : message.string(), revision: position, atMs })
        this.#readings[bucket].readTo = position
        this.#checkComplete(bucket)
        this.#options.changed()
      },
      opened: () => {
        // A new bucket counts revisions from the beginning, so the earlier copy is worthless.
        if (bucket === 'lanes') {
          this.#lanes.clear()
          this.#epochBase = undefined
        }
        void this.#findTarget(bucket)
      },
      lacksEntry: async () => (await this.#lastOf(bucket)) > this.#readings[bucket].readTo,
    })
  }

  async #lastOf(bucket: BucketKind): Promise<number> {
    const { state } = await this.#ports.manager.streams.info(`KV_${this.#options[bucket]}`)
    return state.last_seq
  }

  async #findTarget(bucket: BucketKind): Promise<void> {
    const reading = newReading()
    this.#readings[bucket] = reading
    try {
      reading.target = await this.#lastOf(bucket)
      if (this.#readings[bucket] === reading) this.#checkComplete(bucket)
    } catch (error) {
      if (this.#readings[bucket] === reading) this.#consumptions[bucket].reopen(reasonOf(error))
    }
  }

  /** bucket-watcher/1 */
  #checkComplete(bucket: BucketKind): void {
    const reading = this.#readings[bucket]
    const { isComplete, target, readTo } = reading
    if (isComplete || target === 'unknown' || readTo < target) return
    reading.isComplete = true
    if (bucket === 'lanes') {
      this.#epochBase ??= 0
      return
    }
    // The server's clock gives the ages of the heartbeats read so far; this process's clock gives
    // those of later ones.
    const now = this.#ports.monotonicMs()
    const newestMs = Math.max(0, ...[...this.#nodes.values()].map(({ storedMs }) => storedMs))
    for (const [session, node] of this.#nodes) {
      const lastHeartbeatMs = Math.min(node.lastHeartbeatMs, now - (newestMs - node.storedMs))
      this.#nodes.set(session, { ...node, lastHeartbeatMs })
    }
  }

  #onNode(session: string, { text, atMs }: { readonly text: string; readonly atMs: number }): void {
    if (text === '') {
      this.#nodes.delete(session)
      return
    }
    const lastHeartbeatMs = this.#ports.monotonicMs()
    this.#nodes.set(session, { ...decodeNode(session, text), lastHeartbeatMs, storedMs: atMs })
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
