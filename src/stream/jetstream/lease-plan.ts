// Decides which lanes a node holds, takes and releases: a pure function of its view of the cluster.
//
// Invariants:
//   lease-plan/1. A node holds and takes nothing once its own clock says that it has not renewed in
//     time.
//   lease-plan/2. A node takes a lane only when nobody owns it or its owner counts as dead. It
//     waits for a live owner, which releases the lane by itself once it sees that the lane belongs
//     to another node.

import type { Lease } from '#domain/lane'

import type { Node, Placement } from './placement.ts'

/** A lane's key as this node last read it. */
export interface LaneKey {
  /** The session that owns the lane; empty after its owner released it. */
  readonly owner: string
  /**
   * Grows with each write to any key. A write must name it, and the lane's epoch derives from it.
   */
  readonly revision: number
}

export interface ObservedNode extends Node {
  /** The time of its last heartbeat, by this process's monotonic clock. */
  readonly lastHeartbeatMs: number
}

export interface LeaseView {
  readonly self: Node
  /** The time until which this process may act on its leases, by its monotonic clock. */
  readonly validUntilMs: number
  readonly nodes: readonly ObservedNode[]
  readonly lanes: ReadonlyMap<number, LaneKey>
  /** A key's revision plus this is the lane's epoch. */
  readonly epochBase: number
}

export interface LeaseLimits {
  /** Assigns each lane to a node. */
  readonly placement: Placement
  /** Milliseconds of silence after which a node counts as dead. */
  readonly deadMs: number
}

export interface LeasePlan {
  readonly held: readonly Lease[]
  /** Lanes to take. */
  readonly take: readonly number[]
  /** Lanes to release. */
  readonly release: readonly number[]
}

const NOTHING: LeasePlan = Object.freeze({ held: [], take: [], release: [] })

export function planLeases(view: LeaseView, nowMs: number, limits: LeaseLimits): LeasePlan {
  if (nowMs >= view.validUntilMs) return NOTHING // lease-plan/1
  const { self, lanes, epochBase } = view
  const others = view.nodes.filter(
    ({ session, lastHeartbeatMs }) =>
      session !== self.session && nowMs - lastHeartbeatMs <= limits.deadMs,
  )
  const live = [self, ...others]
  const isLive = new Set(live.map(({ session }) => session))
  const held: Lease[] = []
  const take: number[] = []
  const release: number[] = []
  for (const [lane, belongsTo] of limits.placement.of(live)) {
    const { owner, revision } = lanes.get(lane) ?? { owner: '', revision: 0 }
    const isMine = owner === self.session
    if (isMine && belongsTo === self.session) held.push({ lane, epoch: epochBase + revision })
    else if (isMine) release.push(lane)
    else if (belongsTo === self.session && !isLive.has(owner)) take.push(lane) // lease-plan/2
  }
  return { held: held.sort((a, b) => a.lane - b.lane), take, release }
}

/** True when two sorted lists hold the same leases. */
export const isSameLeases = (one: readonly Lease[], other: readonly Lease[]): boolean =>
  one.length === other.length &&
  one.every(({ lane, epoch }, index) => {
    const counterpart = other[index]
    return counterpart?.lane === lane && counterpart.epoch === epoch
  })
