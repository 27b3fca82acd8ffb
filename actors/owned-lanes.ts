// The lanes in the hands of this process: how they come into them, move on and are let go.
//
// Invariants:
//   owned-lanes/1. After anything but a commit that answered, places come from the database alone.
//     What actors remember of a lane that comes back is forgotten: another owner may have moved on.

import { positionOf } from '#domain/lane'
import type { LanePlace, Lease } from '#domain/lane'
import type { LaneMove, TurnStore } from '#domain/store-ports'
import type { Logger } from '#domain/telemetry'
import type { OwnedLane } from './lanes.ts'
import { ParkedChannels } from './parked-channels.ts'
import type { Applied } from './purge.ts'

export interface OwnedLanesPorts {
  readonly store: Pick<TurnStore, 'takeLane' | 'parkedIn'>
  readonly nowMs: () => number
  readonly logger: Logger
  /** A lane is this process's from now on, at the place that the database has. */
  readonly taken: (lane: number) => void
  /** The database refused a lease. */
  readonly fenced: (lease: Lease) => void
  /** Whatever is remembered of channels must be loaded again. (owned-lanes/1) */
  readonly forgetAll: () => void
}

/** The lanes that this process applies. */
export class OwnedLanes {
  readonly #ports: OwnedLanesPorts
  readonly #lanes = new Map<number, OwnedLane>()
  /** The parked channels of these lanes. */
  readonly parked = new ParkedChannels()
  #leases: readonly Lease[] = []
  #isChanged = false

  constructor(ports: OwnedLanesPorts) {
    this.#ports = ports
  }

  /** Whether leases wait to be adopted. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  get lanes(): ReadonlyMap<number, OwnedLane> {
    return this.#lanes
  }

  /** How far the lanes are applied. */
  places(): readonly Applied[] {
    const lanes = [...this.#lanes.values()]
    return lanes.map(({ lane, place }) => ({ kind: 'applied', lane, position: positionOf(place) }))
  }

  /** Says which leases are held from now on; they count once they are adopted. */
  lease(leases: readonly Lease[]): void {
    this.#leases = leases
    this.#isChanged = true
  }

  /**
   * Takes over lanes that are new or have a new epoch, and lets go of those that are lost. Rejects
   * while the store does not answer.
   */
  async adopt(): Promise<void> {
    while (this.#isChanged) {
      this.#isChanged = false
      const held = new Map(this.#leases.map((lease) => [lease.lane, lease]))
      for (const lane of this.#lanes.keys()) if (!held.has(lane)) this.#letGo(lane)
      for (const lease of held.values()) {
        if (this.#isChanged) break // This one may be another's by now.
        if (this.#lanes.get(lease.lane)?.epoch === lease.epoch) continue
        this.#ports.forgetAll() // owned-lanes/1
        await this.#take(lease)
      }
    }
  }

  /** owned-lanes/1: the lanes as the database has them. Rejects while the store does not answer. */
  async askAgain(lanes: readonly number[]): Promise<void> {
    for (const lane of lanes) {
      const owned = this.#lanes.get(lane)
      if (owned !== undefined) await this.#take(owned)
    }
  }

  /** A turn is decided that moves these lanes. */
  goAhead(moves: readonly LaneMove[]): void {
    for (const { lane, to } of moves) {
      const owned = this.#lanes.get(lane)
      if (owned !== undefined) owned.decidedTo = to
    }
  }

  /** What is decided and not committed will not be: it is to be collected again. */
  fallBack(): void {
    for (const owned of this.#lanes.values()) {
      if (owned.decidedTo === owned.place) continue
      owned.decidedTo = owned.place
      owned.mayHaveMore = true
    }
  }

  /** A commit has moved these lanes. */
  moveOn(moves: readonly LaneMove[]): void {
    for (const { lane, to } of moves) {
      const owned = this.#lanes.get(lane)
      if (owned !== undefined) owned.place = to
    }
  }

  /** owned-lanes/1: nothing is known any more; every lease is adopted anew. */
  forget(): void {
    this.#lanes.clear()
    this.parked.forgetAll()
    this.#isChanged = true
  }

  #letGo(lane: number): void {
    this.#lanes.delete(lane)
    this.parked.forget(lane)
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
    // Nobody else parks or unparks under an older epoch any more.
    this.parked.know(lane, await this.#ports.store.parkedIn(lane), this.#ports.nowMs())
    this.#lanes.set(lane, { lane, epoch, place, decidedTo: place, mayHaveMore: true })
    this.#ports.taken(lane)
  }
}
