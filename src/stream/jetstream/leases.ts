// Shares the right to apply lanes among the nodes, which agree on it in NATS KV. The epochs in the
// database keep safety; these leases keep liveness: some node applies each lane.
//
//   heartbeat ─▶ nodes bucket ─▶ every node's watcher ─▶ plan ─▶ take / release ─▶ changed(held)
//
// Invariants:
//   leases/1. A node holds nothing once LEASE_MS have passed since it sent its last stored
//     heartbeat: before any other node may treat it as dead.
//   leases/2. This node releases a lane only after its actors have stopped applying the lane, or
//     had RELEASE_MS_MAX to do so.
//   leases/3. This node calls `changed` only when the held lanes differ.
//   leases/4. When the bucket of lanes refuses a write, this node reads both buckets again.

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
import { isSameLeases, planLeases } from './lease-plan.ts'
import type { LeasePlan } from './lease-plan.ts'
import { BucketWatcher } from './bucket-watcher.ts'
import { Placement } from './placement.ts'
import type { Node } from './placement.ts'
import { RefusedLeases } from './refused-leases.ts'
import { isStarting } from './starting.ts'
import { pause } from './timers.ts'
import type { MonotonicMs } from './timers.ts'

export interface LeasePorts {
  readonly connection: Connection
  readonly meter: Meter | undefined // Counts lanes, and nothing else.
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
  readonly entropy: Runtime['entropy']
  /** Returns the greatest epoch that the database knows: TurnStore.lastEpoch. */
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
/** LEASE_MS plus a bound for the drift between two clocks in that time. (leases/1) */
export const DEAD_MS = 1700
const REQUEST_TIMEOUT_MS = 600
const PLAN_MS = 100
const RELEASE_MS_MAX = 1000
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
  /** Resolves when this process's actors have adopted the last change. (leases/2) */
  #adopted: Promise<void> = Promise.resolve()
  #validUntilMs = 0
  /** The time at which the watcher last had both buckets, or this node last reopened them. */
  #completeMs = 0
  #isLeaving = false
  #isPlanDue = false

  constructor(ports: LeasePorts, options: LeaseOptions) {
    this.#ports = ports
    this.#options = options
    this.#placement = new Placement(options.lanes)
    this.#refused = new RefusedLeases(ports)
    const run = ports.entropy(6).toString('hex')
    this.#self = { session: `${options.nodeName}-${run}`, name: options.nodeName }
    ports.meter?.gauge('leases_held', {}, () => this.#held.length)
  }

  /** Resolves once the first leases are known; rejects when it cannot create the buckets. */
  async watch(changed: Changed): Promise<() => Promise<void>> {
    const { connection, timers } = this.#ports
    const manager = await jetstreamManager(connection.nats, { checkAPI: false })
    const run = await this.#begin(changed)
    this.#run = run
    const first = Promise.withResolvers<void>()
    const watcher = new BucketWatcher(
      { ...this.#ports, manager },
      { ...LeaseBuckets.namesOf(this.#options), changed: () => this.#planSoon(run) },
    )
    run.watcher = watcher
    this.#completeMs = this.#ports.monotonicMs()
    watcher.start()
    const heartbeats = this.#sendHeartbeats(run)
    const plans = this.#applyPlans(run, first.resolve)
    await first.promise
    return async () => {
      this.#isLeaving = true
      await Promise.all([heartbeats, plans])
      await this.#leave(run).catch((error: unknown) => {
        this.#ports.logger.warn('could not release the leases', { error: reasonOf(error) })
      })
      watcher.stop()
      await pause(timers, 0)
    }
  }

  /** refused-leases/1 */
  fenced(lease: Lease): void {
    this.#refused.add(lease)
    this.#run?.watcher?.reread()
  }

  /**
   * Finds or creates the buckets; a bucket that gets more replicas has no leader for a moment.
   * Stores this node's first heartbeat before the watcher begins to read: the watcher measures the
   * age of other heartbeats by the newest one.
   */
  #begin(changed: Changed): Promise<Run> {
    const { logger, timers } = this.#ports
    const begin = async (): Promise<Run> => {
      const run: Run = { buckets: await this.#openBuckets(), changed, watcher: undefined }
      await this.#sendHeartbeat(run)
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

  async #sendHeartbeats(run: Run): Promise<void> {
    while (!this.#isLeaving) {
      await pause(this.#ports.timers, HEARTBEAT_MS)
      if (!this.#isLeaving && this.#ports.connection.isConnected) await this.#renew(run)
    }
  }

  async #renew(run: Run): Promise<void> {
    try {
      await this.#sendHeartbeat(run)
    } catch (error) {
      this.#ports.logger.debug('could not store a heartbeat', { error: reasonOf(error) })
    }
    const now = this.#ports.monotonicMs()
    if (run.watcher?.isComplete === true) this.#completeMs = now
    // When only the bucket of lanes is lost, heartbeats still succeed.
    if (now >= this.#validUntilMs || now - this.#completeMs >= LEASE_MS) await this.#reopen(run)
  }

  /** Recreates lost buckets; leaves the others unchanged. */
  async #reopen(run: Run): Promise<void> {
    this.#completeMs = this.#ports.monotonicMs()
    try {
      run.buckets = await this.#openBuckets()
      run.watcher?.reread()
    } catch (error) {
      this.#ports.logger.debug('the lease buckets do not answer', { error: reasonOf(error) })
    }
  }

  async #sendHeartbeat({ buckets }: Run): Promise<void> {
    const sentMs = this.#ports.monotonicMs()
    await buckets.storeHeartbeat(this.#self)
    this.#validUntilMs = sentMs + LEASE_MS // leases/1
  }

  async #applyPlans(run: Run, first: () => void): Promise<void> {
    let isFirst = true
    while (!this.#isLeaving) {
      await this.#applyPlan(run)
      if (isFirst && run.watcher?.isComplete === true && this.#moving.size === 0) {
        isFirst = false
        if (this.#held.length === 0) await run.changed([])
        first()
      }
      run.watcher?.forget(FORGET_MS)
      await pause(this.#ports.timers, PLAN_MS)
    }
    first()
  }

  /** Plans once for all changes of one pass of the event loop. */
  #planSoon(run: Run): void {
    if (this.#isPlanDue || this.#isLeaving) return
    this.#isPlanDue = true
    this.#ports.timers.after(0, () => {
      this.#isPlanDue = false
      if (!this.#isLeaving) void this.#applyPlan(run)
    })
  }

  async #applyPlan(run: Run): Promise<void> {
    const plan = this.#plan(run)
    if (plan === undefined) return
    this.#hold(run, plan.held)
    // refused-leases/1
    void this.#refused.raiseEpochs(plan.held, (floor) => run.buckets.raiseBase(floor))
    await Promise.all([
      ...plan.take.map((lane) => this.#move(run, { lane, owner: this.#self.session })),
      ...plan.release.map((lane) => this.#move(run, { lane, owner: '' })),
    ])
  }

  /**
   * Undefined while the watcher lacks a part of the buckets: then this node keeps its lanes until
   * its time is over. (leases/1)
   */
  #plan({ watcher }: Run): LeasePlan | undefined {
    const now = this.#ports.monotonicMs()
    const isOver = now >= this.#validUntilMs
    if (watcher === undefined || (!watcher.isComplete && !isOver)) return undefined
    const { nodes, lanes, epochBase } = watcher
    const view = { self: this.#self, validUntilMs: this.#validUntilMs, nodes, lanes, epochBase }
    return planLeases(view, now, { placement: this.#placement, deadMs: DEAD_MS })
  }

  /** leases/3 */
  #hold(run: Run, held: readonly Lease[]): void {
    if (isSameLeases(held, this.#held)) return
    const { logger, monotonicMs } = this.#ports
    const before = this.#held
    this.#held = held
    if (monotonicMs() >= this.#validUntilMs && before.length > 0) {
      logger.warn('leases lost: no heartbeat was stored in time', { lanes: before.length })
    } else {
      logger.info('the lanes of this process changed', { lanes: held.map(({ lane }) => lane) })
    }
    this.#adopted = this.#adopt(run, held)
  }

  /** Resolves when the actors have adopted the change, or after RELEASE_MS_MAX. (leases/2) */
  async #adopt({ changed }: Run, held: readonly Lease[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#ports.timers.after(RELEASE_MS_MAX, resolve)
    await Promise.race([promise, changed(held)])
    cancel()
  }

  /** Takes a lane, or releases it when `owner` is empty. The next plan uses the result. */
  async #move(
    run: Run,
    { lane, owner }: { readonly lane: number; readonly owner: string },
  ): Promise<void> {
    if (this.#moving.has(lane)) return
    this.#moving.add(lane)
    try {
      if (owner === '') await this.#adopted // leases/2
      const revision = run.watcher?.lanes.get(lane)?.revision ?? 0
      const written = await run.buckets.setOwner(lane, { owner, revision })
      if (written === undefined)
        run.watcher?.reread() // leases/4
      else run.watcher?.noteWrite(lane, { owner, revision: written })
    } catch (error) {
      const fields = { lane, error: reasonOf(error) }
      this.#ports.logger.debug('could not change the owner of a lane', fields)
    } finally {
      this.#moving.delete(lane)
      this.#planSoon(run)
    }
  }

  /** Releases everything at once, so that no node waits until this process counts as dead. */
  async #leave(run: Run): Promise<void> {
    const mine = [...(run.watcher?.lanes ?? [])].filter(
      ([, { owner }]) => owner === this.#self.session,
    )
    this.#hold(run, [])
    await this.#adopted
    if (!this.#ports.connection.isConnected) return
    await Promise.all(mine.map(([lane]) => this.#move(run, { lane, owner: '' })))
    await run.buckets.deleteNode(this.#self)
  }
}

interface Run {
  buckets: LeaseBuckets
  readonly changed: Changed
  watcher: BucketWatcher | undefined
}
