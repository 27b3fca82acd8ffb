// The two buckets by which nodes agree: which nodes live, and which node owns which lane.
//
// Invariants:
//   lease-buckets/1. An epoch is the revision of a lane's key above a base, and the base is set
//     above every epoch the database knows when the bucket is opened, and again when the database
//     refuses a lease: epochs grow also after the bucket was lost or rolled back.

import { JetStreamApiError, jetstream } from '@nats-io/jetstream'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { KV } from '@nats-io/kv'

import { recordOf } from './record.ts'
import type { Connection } from './connection.ts'
import type { Node } from './placement.ts'

export interface BucketSettings {
  /** The prefix of the buckets' names; HELIOGRAPH by default. */
  readonly name?: string
  readonly replicas: number
}

/** The value of a node's key. */
export const encodeNode = ({ name }: Node): string => JSON.stringify({ name })

export function decodeNode(session: string, text: string): Node {
  const name = parse(text)['name']
  return { session, name: typeof name === 'string' ? name : session }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(text)) ?? {}
  } catch {
    return {}
  }
}

export const BASE_KEY = 'base'
export const LANE_KEY = /^lane\.(\d+)$/
export const keyOfLane = (lane: number): string => `lane.${lane}`

const NAME = 'HELIOGRAPH'
/** The key of a dead node expires. (Heartbeats, not keys, tell whether a node lives.) */
const NODE_TTL_MS = 10_000
/**
 * More leases than can have been given and not yet taken when a bucket is lost. (lease-buckets/1)
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

  /** Finds or makes both buckets. `epochFloor`: the greatest epoch that the database knows. */
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
    await adjusted(manager, `KV_${names.nodes}`, replicas)
    const { state } = await adjusted(manager, `KV_${names.lanes}`, replicas)
    await opened.#setBase(await settings.epochFloor(), state.last_seq)
    return opened
  }

  static namesOf({ name = NAME }: Pick<BucketSettings, 'name'>) {
    return { nodes: `${name}_NODES`, lanes: `${name}_LANES` }
  }

  /** Says that a node is alive. Resolves once the bucket has it. */
  async beat(node: Node): Promise<void> {
    await this.#nodes.put(node.session, encodeNode(node), { timeout: this.#timeoutMs })
  }

  async leave(node: Node): Promise<void> {
    await this.#nodes.delete(node.session)
  }

  /**
   * Writes a lane's owner over a revision; gives the new one, or undefined when another was faster.
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
   * lease-buckets/1: every lane's epoch becomes greater than `floor`, whatever its key's revision
   * is.
   */
  raiseBase(floor: number): Promise<void> {
    return this.#setBase(floor, -Infinity)
  }

  /**
   * Writes the base also when it stays the same: a bucket that lost its last entry counts as whole
   * only once another entry follows. (lease-sight/1)
   */
  async #setBase(floor: number, newestRevision: number): Promise<void> {
    const known = await this.#lanes.get(BASE_KEY)
    const before = Number(known?.string() ?? 0)
    const isEnough = before + newestRevision >= floor
    const base = isEnough || floor === 0 ? before : floor + EPOCH_MARGIN
    const previousSeq = known === null ? 0 : known.revision
    try {
      await this.#lanes.put(BASE_KEY, String(base), { previousSeq, timeout: this.#timeoutMs })
    } catch (error) {
      // Another node opened the buckets at the same time and was faster: its base is as good.
      if (!isWrongRevision(error)) throw error
    }
  }
}

/** Changes an existing bucket to the present settings, which its creation ignores. */
async function adjusted(
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
