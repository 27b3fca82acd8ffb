// Assigns lanes to nodes: rendezvous hashing with a bound, a pure function of the live nodes.
//
// Invariants:
//   placement/1. Nodes that see the same nodes compute the same placement.
//   placement/2. No node gets more than its share, rounded up: one slow node does not hold half of
//     the lanes.
//   placement/3. It is computed when the set of live nodes changes, not at each plan: for 1,024
//     lanes and 8 nodes that takes 35 ms, and each heartbeat of a node leads to a plan.

import { createHash } from 'node:crypto'

export interface Node {
  /** The name of one run of one process. */
  readonly session: string
  /** The process's own name, the same after a restart, so that its lanes return to it. */
  readonly name: string
}

interface Wish {
  readonly lane: number
  readonly session: string
  readonly weight: number
}

/** Keeps the placement over the nodes of the last call. */
export class Placement {
  readonly #lanes: number
  #nodes = ''
  #known: ReadonlyMap<number, string> = new Map()

  constructor(lanes: number) {
    this.#lanes = lanes
  }

  of(nodes: readonly Node[]): ReadonlyMap<number, string> {
    const texts = nodes.map(({ session, name }) => JSON.stringify([session, name]))
    const asked = texts.toSorted().join()
    if (asked !== this.#nodes) {
      this.#nodes = asked
      this.#known = placementOf(this.#lanes, nodes)
    }
    return this.#known // placement/3
  }
}

/** Lane → session, over all lanes; empty without nodes. */
export function placementOf(lanes: number, nodes: readonly Node[]): ReadonlyMap<number, string> {
  const placement = new Map<number, string>()
  const share = Math.ceil(lanes / Math.max(1, nodes.length))
  const load = new Map<string, number>()
  for (const { lane, session } of wishes(lanes, nodes)) {
    const held = load.get(session) ?? 0
    if (placement.has(lane) || held >= share) continue // placement/2
    placement.set(lane, session)
    load.set(session, held + 1)
  }
  return placement
}

/** Every pair of lane and node, the strongest first. (placement/1) */
function wishes(lanes: number, nodes: readonly Node[]): readonly Wish[] {
  const all = nodes.flatMap(({ session, name }) =>
    Array.from({ length: lanes }, (_, lane) => ({ lane, session, weight: weightOf(name, lane) })),
  )
  return all.sort((a, b) => b.weight - a.weight || (a.session < b.session ? -1 : 1))
}

const weightOf = (name: string, lane: number): number =>
  createHash('sha1').update(`${name}/${lane}`).digest().readUIntBE(0, 6)
