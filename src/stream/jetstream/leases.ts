// The right to apply lanes, which nodes agree on in NATS KV. The epochs in the database keep
// safety; these leases keep liveness: some node applies each lane.
//
//   heartbeat ─▶ nodes bucket ─▶ everybody's sight ─▶ plan ─▶ take / give lanes ─▶ changed(held)
//
// Invariants:
//   leases/1. A node holds nothing once LEASE_MS have passed since it sent its last stored
//     heartbeat: before any other node may take it for dead.
//   leases/2. A lane goes to another node only after the owner in this process has released it, or
//       had time to.
//   leases/3. `changed` is called only when the held lanes differ.
//   leases/4. When the bucket of lanes refuses a write, this node reads the buckets anew.

import { jetstreamManager } from '@nats-io/jetstream'
import { firstAnswer } from '#domain/first-answer'
import type { Lease } from '#domain/lane'
import type { LaneLeases, Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'

import { reasonOf } from './connection.ts'
import type { Connection } from './connection.ts'
import { LeaseBuckets } from './lease-buckets.ts'
import type { BucketSettings } from './lease-buckets.ts'
import { isSame, planLeases } from './lease-plan.ts'
import type { LeasePlan } from './lease-plan.ts'
import { LeaseSight } from './lease-sight.ts'
import { Placement } from './placement.ts'
import type { Node } from './placement.ts'
import { RefusedLeases } from './refused-leases.ts'
import { isStarting } from './starting.ts'
import { pause } from './timers.ts'
import type { MonotonicMs } from './timers.ts'

export interface LeasePorts {
  readonly connection: Connection
  readonly meter: Meter
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
  readonly entropy: Runtime['entropy']
  /** The greatest epoch that the database knows: TurnStore.lastEpoch. */
  readonly epochFloor: () => Promise<number>
}

export interface LeaseOptions extends BucketSettings {
  readonly lanes: number
  /** This process's name in the cluster. */
  readonly nodeName: string
}

type Changed = (leases: readonly Lease[]) => void | Promise<void>

export const HEARTBEAT_MS = 300
export const LEASE_MS = 1400
/** LEASE_MS plus the most that two clocks can drift apart in so short a time. (leases/1) */
export const DEAD_MS = 1700
const REQUEST_TIMEOUT_MS = 600
const LOOK_MS = 100
const LET_GO_MS_MAX = 1000
const FORGET_MS = 60_000

export class KvLeases implements LaneLeases {
  readonly #ports: LeasePorts
  readonly #options: LeaseOptions
  readonly #self: Node
  readonly #placement: Placement
  readonly #moving = new Set<number>()
  readonly #refused: RefusedLeases
  #run: Run | undefined
  #held: readonly Lease[] = []
  #letGo: Promise<void> = Promise.resolve()
  #selfUntilMs = 0
  /** The time at which the buckets were last seen whole, or made anew. */
  #seenMs = 0
  #isLeaving = false
  #lookIsDue = false

  constructor(ports: LeasePorts, options: LeaseOptions) {
    this.#ports = ports
    this.#options = options
    this.#placement = new Placement(options.lanes)
    this.#refused = new RefusedLeases(ports)
    const run = ports.entropy(6).toString('hex')
    this.#self = { session: `${options.nodeName}-${run}`, name: options.nodeName }
    ports.meter.gauge('leases_held', {}, () => this.#held.length)
  }

  /** Resolves once the first leases are known; rejects when the buckets cannot be made. */
  async watch(changed: Changed): Promise<() => Promise<void>> {
    const { connection, timers } = this.#ports
    const manager = await jetstreamManager(connection.nats, { checkAPI: false })
    const run = await this.#begin(changed)
    this.#run = run
    const first = Promise.withResolvers<void>()
    const sight = new LeaseSight(
      { ...this.#ports, manager },
      {
        ...LeaseBuckets.namesOf(this.#options),
        changed: () => this.#lookSoon(run),
      },
    )
    run.sight = sight
    this.#seenMs = this.#ports.monotonicMs()
    sight.start()
    const beating = this.#keepBeating(run)
    const looking = this.#keepLooking(run, first.resolve)
    await first.promise
    return async () => {
      this.#isLeaving = true
      await Promise.all([beating, looking])
      await this.#leave(run).catch((error: unknown) => {
        this.#ports.logger.warn('the leases could not be given back', { error: reasonOf(error) })
      })
      sight.stop()
      await pause(timers, 0)
    }
  }

  /** refused-leases/1 */
  fenced(lease: Lease): void {
    this.#refused.add(lease)
    this.#run?.sight?.again()
  }

  /**
   * Finds or makes the buckets; a bucket that gets more replicas has no leader for a moment. This
   * node's first heartbeat is stored before reading begins: the age of other heartbeats counts from
   * it.
   */
  #begin(changed: Changed): Promise<Run> {
    const { logger, timers } = this.#ports
    const begin = async (): Promise<Run> => {
      const run: Run = { buckets: await this.#openBuckets(), changed, sight: undefined }
      await this.#beat(run)
      return run
    }
    return firstAnswer(begin, {
      fact: 'the lease buckets do not answer; trying again',
      mayPass: isStarting,
      reasonOf,
      logger,
      after: (delayMs, callback) => timers.after(delayMs, callback),
    })
  }

  #openBuckets(): Promise<LeaseBuckets> {
    const { connection, epochFloor } = this.#ports
    const { replicas, name } = this.#options
    const settings = { replicas, timeoutMs: REQUEST_TIMEOUT_MS, epochFloor }
    return LeaseBuckets.open(connection, { ...settings, ...(name !== undefined && { name }) })
  }

  async #keepBeating(run: Run): Promise<void> {
    while (!this.#isLeaving) {
      await pause(this.#ports.timers, HEARTBEAT_MS)
      if (!this.#isLeaving && this.#ports.connection.isConnected) await this.#beatOrMend(run)
    }
  }

  async #beatOrMend(run: Run): Promise<void> {
    try {
      await this.#beat(run)
    } catch (error) {
      this.#ports.logger.debug('a heartbeat was not taken', { error: reasonOf(error) })
    }
    const now = this.#ports.monotonicMs()
    if (run.sight?.isWhole === true) this.#seenMs = now
    // When only the bucket of lanes is lost, heartbeats still succeed.
    if (now >= this.#selfUntilMs || now - this.#seenMs >= LEASE_MS) await this.#mend(run)
  }

  /** Makes lost buckets anew; leaves the others as they are. */
  async #mend(run: Run): Promise<void> {
    this.#seenMs = this.#ports.monotonicMs()
    try {
      run.buckets = await this.#openBuckets()
      run.sight?.again()
    } catch (error) {
      this.#ports.logger.debug('the lease buckets do not answer', { error: reasonOf(error) })
    }
  }

  async #beat({ buckets }: Run): Promise<void> {
    const sentMs = this.#ports.monotonicMs()
    await buckets.beat(this.#self)
    this.#selfUntilMs = sentMs + LEASE_MS // leases/1
  }

  async #keepLooking(run: Run, first: () => void): Promise<void> {
    let isFirst = true
    while (!this.#isLeaving) {
      await this.#look(run)
      if (isFirst && run.sight?.isWhole === true && this.#moving.size === 0) {
        isFirst = false
        if (this.#held.length === 0) await run.changed([])
        first()
      }
      run.sight?.forget(FORGET_MS)
      await pause(this.#ports.timers, LOOK_MS)
    }
    first()
  }

  /** Plans once for all changes that come together. */
  #lookSoon(run: Run): void {
    if (this.#lookIsDue || this.#isLeaving) return
    this.#lookIsDue = true
    this.#ports.timers.after(0, () => {
      this.#lookIsDue = false
      if (!this.#isLeaving) void this.#look(run)
    })
  }

  async #look(run: Run): Promise<void> {
    const plan = this.#plan(run)
    if (plan === undefined) return
    this.#hold(run, plan.held)
    // refused-leases/1
    void this.#refused.answer(plan.held, (floor) => run.buckets.raiseBase(floor))
    await Promise.all([
      ...plan.take.map((lane) => this.#move(run, { lane, owner: this.#self.session })),
      ...plan.give.map((lane) => this.#move(run, { lane, owner: '' })),
    ])
  }

  /**
   * Undefined while the owners cannot be seen: then held lanes stay within their time. (leases/1)
   */
  #plan({ sight }: Run): LeasePlan | undefined {
    const now = this.#ports.monotonicMs()
    const isOver = now >= this.#selfUntilMs
    if (sight === undefined || (!sight.isWhole && !isOver)) return undefined
    const { nodes, lanes, epochBase } = sight
    const view = { self: this.#self, selfUntilMs: this.#selfUntilMs, nodes, lanes, epochBase }
    return planLeases(view, now, { placement: this.#placement, deadMs: DEAD_MS })
  }

  /** leases/3 */
  #hold(run: Run, held: readonly Lease[]): void {
    if (isSame(held, this.#held)) return
    const { logger, monotonicMs } = this.#ports
    const before = this.#held
    this.#held = held
    if (monotonicMs() >= this.#selfUntilMs && before.length > 0) {
      logger.warn('leases lost: no heartbeat was stored in time', { lanes: before.length })
    } else {
      logger.info('the lanes of this process changed', { lanes: held.map(({ lane }) => lane) })
    }
    this.#letGo = this.#tell(run, held)
  }

  /** Resolves when the owner of the lanes has adopted the change, or had time to. (leases/2) */
  async #tell({ changed }: Run, held: readonly Lease[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#ports.timers.after(LET_GO_MS_MAX, resolve)
    await Promise.race([promise, changed(held)])
    cancel()
  }

  /** Takes a lane, or gives it up; the next plan sees the result. */
  async #move(
    run: Run,
    { lane, owner }: { readonly lane: number; readonly owner: string },
  ): Promise<void> {
    if (this.#moving.has(lane)) return
    this.#moving.add(lane)
    try {
      if (owner === '') await this.#letGo // leases/2
      const revision = run.sight?.lanes.get(lane)?.revision ?? 0
      const written = await run.buckets.setOwner(lane, { owner, revision })
      if (written === undefined)
        run.sight?.again() // leases/4
      else run.sight?.wrote(lane, { owner, revision: written })
    } catch (error) {
      this.#ports.logger.debug('a lane could not be moved', { lane, error: reasonOf(error) })
    } finally {
      this.#moving.delete(lane)
      this.#lookSoon(run)
    }
  }

  /** Gives everything back at once, so that no node waits until this process counts as dead. */
  async #leave(run: Run): Promise<void> {
    const mine = [...(run.sight?.lanes ?? [])].filter(
      ([, { owner }]) => owner === this.#self.session,
    )
    this.#hold(run, [])
    await this.#letGo
    if (!this.#ports.connection.isConnected) return
    await Promise.all(mine.map(([lane]) => this.#move(run, { lane, owner: '' })))
    await run.buckets.leave(this.#self)
  }
}

interface Run {
  buckets: LeaseBuckets
  readonly changed: Changed
  sight: LeaseSight | undefined
}
