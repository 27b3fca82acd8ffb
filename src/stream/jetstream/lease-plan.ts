// Decides which lanes a node holds, takes and gives: a pure step between two heartbeats.
//
// Invariants:
//   lease-plan/1. A node that has not renewed in time holds nothing and takes nothing, by its own
//     clock.
//   lease-plan/2. A node takes a lane only when nobody owns it or its owner is silent for too long.
//     It waits for a live owner, which gives the lane up by itself once it sees where the lane
//     belongs.

import type { Lease } from '#domain/lane'

import type { Node, Placement } from './placement.ts'

/** A lane's key as it was last seen. */
export interface LaneKey {
  /** The session that owns it; empty when it was given up. */
  readonly owner: string
  /** Grows with each write to any key. A write must name it, and the epoch derives from it. */
  readonly revision: number
}

export interface HeardNode extends Node {
  /** The time of its last heartbeat, by this process's monotonic clock. */
  readonly heardMs: number
}

export interface LeaseView {
  readonly self: Node
  /** The time until which this process may act on its leases. */
  readonly selfUntilMs: number
  readonly nodes: readonly HeardNode[]
  readonly lanes: ReadonlyMap<number, LaneKey>
  /** A revision plus this gives an epoch. */
  readonly epochBase: number
}

export interface LeaseLimits {
  /** The node to which each lane belongs. */
  readonly placement: Placement
  /** Milliseconds of silence after which a node counts as dead. */
  readonly deadMs: number
}

export interface LeasePlan {
  readonly held: readonly Lease[]
  readonly take: readonly number[]
  readonly give: readonly number[]
}

const NOTHING: LeasePlan = Object.freeze({ held: [], take: [], give: [] })

export function planLeases(view: LeaseView, nowMs: number, limits: LeaseLimits): LeasePlan {
  if (nowMs >= view.selfUntilMs) return NOTHING // lease-plan/1
  const { self, lanes, epochBase } = view
  const others = view.nodes.filter(
    ({ session, heardMs }) => session !== self.session && nowMs - heardMs <= limits.deadMs,
  )
  const live = [self, ...others]
  const isLive = new Set(live.map(({ session }) => session))
  const held: Lease[] = []
  const take: number[] = []
  const give: number[] = []
  for (const [lane, belongsTo] of limits.placement.of(live)) {
    const { owner, revision } = lanes.get(lane) ?? { owner: '', revision: 0 }
    const isMine = owner === self.session
    if (isMine && belongsTo === self.session) held.push({ lane, epoch: epochBase + revision })
    else if (isMine) give.push(lane)
    else if (belongsTo === self.session && !isLive.has(owner)) take.push(lane) // lease-plan/2
  }
  return { held: held.sort((a, b) => a.lane - b.lane), take, give }
}

/** True when two sorted lists hold the same leases. */
export const isSame = (one: readonly Lease[], other: readonly Lease[]): boolean =>
  one.length === other.length &&
  one.every(({ lane, epoch }, index) => {
    const counterpart = other[index]
    return counterpart?.lane === lane && counterpart.epoch === epoch
  })
