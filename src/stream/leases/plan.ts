// Decides which lanes a node holds, takes and releases: a pure function of what the database says.
//
// Invariants:
//   lease-plan/1. A node takes a lane only when no holder owns it, or when its owner counts as
//     dead. A live owner of more than its share releases the rest by itself.
//   lease-plan/2. Nodes that see the same rows take different lanes, and no node gets more than its
//     share, rounded up: one slow node cannot own half of the lanes.

import type { Lease } from '#domain/lane'
import type { LeaseHolder, LeaseRow, LeaseView } from '#domain/ports'

export interface LeasePlan {
  readonly held: readonly Lease[]
  /** Lanes to take. */
  readonly take: readonly number[]
  /** Lanes to release. */
  readonly release: readonly number[]
  /** The sessions of the holders that count as dead. */
  readonly dead: readonly string[]
}

/** `deadMs`: the milliseconds without a renewal after which a holder counts as dead. */
export function planLeases({ holders, rows }: LeaseView, self: string, deadMs: number): LeasePlan {
  const isDead = ({ session, ageMs }: LeaseHolder): boolean =>
    session !== self && Math.abs(ageMs) > deadMs // Below 0: the database's clock was set back.
  const [dead, live] = [holders.filter(isDead), holders.filter((holder) => !isDead(holder))]
  const sessions = new Set([self, ...live.map(({ session }) => session)])
  const owned = Map.groupBy(rows, ({ owner }) => (sessions.has(owner) ? owner : ''))
  const free = owned.get('') ?? []
  const ordered = [...sessions].toSorted()
  const shareOf = (place: number): number => Math.floor((rows.length + place) / ordered.length)
  const missing = ordered.map((session, place) =>
    Math.max(0, shareOf(place) - (owned.get(session)?.length ?? 0)),
  )
  const place = ordered.indexOf(self)
  const ahead = missing.slice(0, place).reduce((sum, count) => sum + count, 0)
  const mine = owned.get(self) ?? []
  return {
    held: mine.slice(0, shareOf(place)).map(({ lane, epoch }) => ({ lane, epoch })),
    take: numbersOf(free.slice(ahead, ahead + (missing[place] ?? 0))), // lease-plan/2
    release: numbersOf(mine.slice(shareOf(place))),
    dead: dead.map(({ session }) => session),
  }
}

const numbersOf = (rows: readonly LeaseRow[]): readonly number[] => rows.map(({ lane }) => lane)

/** True when two lists in the order of the lanes hold the same leases. */
export const isSameLeases = (one: readonly Lease[], other: readonly Lease[]): boolean =>
  one.length === other.length &&
  one.every(({ lane, epoch }, index) => {
    const counterpart = other[index]
    return counterpart?.lane === lane && counterpart.epoch === epoch
  })
