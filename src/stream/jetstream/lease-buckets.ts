// Stores what the nodes agree on in two buckets: which nodes live, and which node owns which lane.
//
// Invariants:
//   lease-buckets/1. An epoch is a base plus the revision of a lane's key. A node sets the base so
//     that new epochs exceed every epoch that the database knows: when it opens the bucket, and
//     when the database refuses a lease. So epochs grow even after the bucket was lost or rolled
//     back.

import { JetStreamApiError, jetstream } from '@nats-io/jetstream'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { KV } from '@nats-io/kv'

import { recordFrom } from '#domain/record'
import type { Connection } from './connection.ts'
import type { Node } from './placement.ts'

export interface BucketSettings {
  /** The prefix of the buckets' names; HELIOGRAPH by default. */
  readonly name?: string
  readonly replicas: number
}

/** Returns the value of a node's key. */
export const encodeNode = ({ name }: Node): string => JSON.stringify({ name })

export function decodeNode(session: string, text: string): Node {
  const name = recordFrom(text)['name']
  return { session, name: typeof name === 'string' ? name : session }
}

export const BASE_KEY = 'base'
export const LANE_KEY = /^lane\.(\d+)$/
export const keyOfLane = (lane: number): string => `lane.${lane}`

const NAME = 'HELIOGRAPH'
/** Removes the keys of dead nodes. (The age of its heartbeat decides whether a node is dead.) */
const NODE_TTL_MS = 10_000
/**
 * Bound for the epochs that a lost bucket had given and the database did not know yet.
 * (lease-buckets/1)
 */
const EPOCH_MARGIN = 4096

export class LeaseBuckets {
  readonly #lanes: KV
  readonly #nodes: KV
  readonly #timeoutMs: number

  private constructor(lanes: KV, { nodes, timeoutMs }: Opened) {
    this.#lanes = lanes
    this.#nodes = nodes
    this.#timeoutMs = timeoutMs
  }

  /**
   * Finds or creates both buckets. `epochFloor` gives the greatest epoch that the database knows.
   */
  static async open(
    connection: Connection,
    settings: BucketSettings & {
      readonly timeoutMs: number
      readonly epochFloor: () => Promise<number>
    },
  ): Promise<LeaseBuckets> {
    const { replicas, timeoutMs } = settings
    const names = LeaseBuckets.namesOf(settings)
    const stream = jetstream(connection.nats, { checkAPI: false, timeout: timeoutMs })
    const buckets = new Kvm(stream)
    const nodes = await buckets.create(names.nodes, { ttl: NODE_TTL_MS, replicas })
    const lanes = await buckets.create(names.lanes, { replicas })
    const opened = new LeaseBuckets(lanes, { nodes, timeoutMs })
    const manager = await stream.jetstreamManager(false)
    await adjustReplicas(manager, `KV_${names.nodes}`, replicas)
    const { state } = await adjustReplicas(manager, `KV_${names.lanes}`, replicas)
    await opened.#setBase(await settings.epochFloor(), state.last_seq)
    return opened
  }

  static namesOf({ name = NAME }: Pick<BucketSettings, 'name'>) {
    return { nodes: `${name}_NODES`, lanes: `${name}_LANES` }
  }

  /** Resolves once the bucket has stored the node's heartbeat. */
  async storeHeartbeat(node: Node): Promise<void> {
    await this.#nodes.put(node.session, encodeNode(node), { timeout: this.#timeoutMs })
  }

  async deleteNode(node: Node): Promise<void> {
    await this.#nodes.delete(node.session)
  }

  /**
   * Replaces a lane's owner at `revision`. Gives the new revision; undefined when another node
   * wrote first.
   */
  async setOwner(
    lane: number,
    { owner, revision }: { readonly owner: string; readonly revision: number },
  ): Promise<number | undefined> {
    const options = { previousSeq: revision, timeout: this.#timeoutMs }
    try {
      return await this.#lanes.put(keyOfLane(lane), owner, options)
    } catch (error) {
      if (isWrongRevision(error)) return undefined
      throw error
    }
  }

  /**
   * lease-buckets/1: makes every lane's epoch greater than `floor`, whatever the revision of its
   * key.
   */
  raiseBase(floor: number): Promise<void> {
    return this.#setBase(floor, -Infinity)
  }

  /**
   * Writes the base even when it stays the same: the copy of a bucket that lost its last entry is
   * complete only once another entry follows. (bucket-watcher/1)
   */
  async #setBase(floor: number, newestRevision: number): Promise<void> {
    const stored = await this.#lanes.get(BASE_KEY)
    const before = Number(stored?.string() ?? 0)
    const isEnough = before + newestRevision >= floor
    const base = isEnough || floor === 0 ? before : floor + EPOCH_MARGIN
    const previousSeq = stored === null ? 0 : stored.revision
    try {
      await this.#lanes.put(BASE_KEY, String(base), { previousSeq, timeout: this.#timeoutMs })
    } catch (error) {
      // Another node opened the buckets at the same time and wrote first: its base serves as well.
      if (!isWrongRevision(error)) throw error
    }
  }
}

/** Returns an existing bucket the configured replicas, which `create` ignores. */
async function adjustReplicas(
  manager: JetStreamManager,
  stream: string,
  replicas: number,
): Promise<StreamInfo> {
  const info = await manager.streams.info(stream)
  if (info.config.num_replicas === replicas) return info
  return manager.streams.update(stream, { num_replicas: replicas })
}

interface Opened {
  readonly nodes: KV
  readonly timeoutMs: number
}

const WRONG_REVISION = 10_071

const isWrongRevision = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === WRONG_REVISION
