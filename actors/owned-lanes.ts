// The lanes that this process owns: takes them over, moves their places and lets them go.
//
// Invariants:
//   owned-lanes/1. After anything but a commit that answered, places come from the database alone.
//     Actors forget a lane that comes back: another owner may have moved it.

import { positionOf } from '#domain/lane'
import type { LanePlace, Lease } from '#domain/lane'
import type { LaneMove, TurnStore } from '#domain/store-ports'
import type { Logger } from '#domain/telemetry'
import type { Deadlines } from './deadlines.ts'
import type { OwnedLane } from './lanes.ts'
import type { Applied } from './purge.ts'
import { RefusedChannels } from './refused-channels.ts'

export interface OwnedLanesPorts {
  readonly store: Pick<TurnStore, 'takeLane' | 'nextDue'>
  readonly deadlines: Pick<Deadlines, 'know' | 'forget' | 'forgetAll'>
  readonly logger: Logger
  /** Called when this process has taken a lane, at the place that the database has. */
  readonly taken: (lane: number) => void
  /** Called when the database refused a lease. */
  readonly fenced: (lease: Lease) => void
  /** Called when every channel must be loaded again. (owned-lanes/1) */
  readonly forgetAll: () => void
}

/** The lanes that this process applies. */
export class OwnedLanes {
  readonly #ports: OwnedLanesPorts
  readonly #lanes = new Map<number, OwnedLane>()
  /** The channels of these lanes whose rows the database refuses. */
  readonly refused = new RefusedChannels()
  #leases: readonly Lease[] = []
  #isChanged = false

  constructor(ports: OwnedLanesPorts) {
    this.#ports = ports
  }

  /** True when leases wait to be adopted. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  get lanes(): ReadonlyMap<number, OwnedLane> {
    return this.#lanes
  }

  /** The places up to which the lanes are applied. */
  places(): readonly Applied[] {
    const lanes = [...this.#lanes.values()]
    return lanes.map(({ lane, place }) => ({ kind: 'applied', lane, position: positionOf(place) }))
  }

  /** Sets the leases that are held from now on; they count once they are adopted. */
  lease(leases: readonly Lease[]): void {
    this.#leases = leases
    this.#isChanged = true
  }

  /**
   * Takes over lanes that are new or have a new epoch, and lets lost lanes go. Rejects while the
   * store does not answer.
   */
  async adopt(): Promise<void> {
    while (this.#isChanged) {
      this.#isChanged = false
      const held = new Map(this.#leases.map((lease) => [lease.lane, lease]))
      for (const lane of this.#lanes.keys()) if (!held.has(lane)) this.#letGo(lane)
      for (const lease of held.values()) {
        if (this.#isChanged) break // Another process may own this lane by now.
        if (this.#lanes.get(lease.lane)?.epoch === lease.epoch) continue
        this.#ports.forgetAll() // owned-lanes/1
        await this.#take(lease)
      }
    }
  }

  /**
   * owned-lanes/1: takes the places of lanes from the database. Rejects while the store does not
   * answer.
   */
  async askAgain(lanes: readonly number[]): Promise<void> {
    for (const lane of lanes) {
      const owned = this.#lanes.get(lane)
      if (owned !== undefined) await this.#take(owned)
    }
  }

  /** Says that a turn is decided which moves these lanes. */
  goAhead(moves: readonly LaneMove[]): void {
    for (const { lane, to } of moves) {
      const owned = this.#lanes.get(lane)
      if (owned !== undefined) owned.decidedTo = to
    }
  }

  /** Says that no decided turn will be committed: their items are collected again. */
  fallBack(): void {
    for (const owned of this.#lanes.values()) {
      if (owned.decidedTo === owned.place) continue
      owned.decidedTo = owned.place
      owned.mayHaveMore = true
    }
  }

  /** Says that a commit moved these lanes. */
  moveOn(moves: readonly LaneMove[]): void {
    for (const { lane, to } of moves) {
      const owned = this.#lanes.get(lane)
      if (owned !== undefined) owned.place = to
    }
  }

  /** owned-lanes/1: forgets everything; every lease is adopted anew. */
  forget(): void {
    this.#lanes.clear()
    this.#ports.deadlines.forgetAll()
    this.#isChanged = true
  }

  #letGo(lane: number): void {
    this.#lanes.delete(lane)
    this.refused.forget(lane)
    this.#ports.deadlines.forget(lane)
  }

  async #take(lease: Lease): Promise<void> {
    const { lane, epoch } = lease
    const place: LanePlace | 'fenced' = await this.#ports.store.takeLane(lease)
    if (place === 'fenced') {
      this.#letGo(lane)
      this.#ports.logger.error('lane lost: another process applies it', { lane, epoch })
      this.#ports.fenced(lease)
      return
    }
    this.#ports.deadlines.know(lane, await this.#ports.store.nextDue(lane))
    this.#lanes.set(lane, { lane, epoch, place, decidedTo: place, mayHaveMore: true })
    this.#ports.taken(lane)
  }
}
