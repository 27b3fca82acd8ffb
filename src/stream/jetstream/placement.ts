// Assigns lanes to nodes by rendezvous hashing with a bound: a pure function of the live nodes.
//
// Invariants:
//   placement/1. Nodes that see the same nodes compute the same placement.
//   placement/2. No node gets more than its share, rounded up: one slow node cannot own half of the
//     lanes.
//   placement/3. `Placement` computes it when the set of live nodes changes, not at each plan:
//     1,024 lanes and 8 nodes take 35 ms, and a node plans at each heartbeat of any node.

import { createHash } from 'node:crypto'

export interface Node {
  /** Names one run of one process. */
  readonly session: string
  /** Names the process, also after a restart, so that its lanes return to it. */
  readonly name: string
}

interface Candidate {
  readonly lane: number
  readonly session: string
  readonly weight: number
}

/** Caches the placement for the nodes of the last call. */
export class Placement {
  readonly #lanes: number
  #key = ''
  #cached: ReadonlyMap<number, string> = new Map()

  constructor(lanes: number) {
    this.#lanes = lanes
  }

  of(nodes: readonly Node[]): ReadonlyMap<number, string> {
    const texts = nodes.map(({ session, name }) => JSON.stringify([session, name]))
    const key = texts.toSorted().join()
    if (key !== this.#key) {
      this.#key = key
      this.#cached = placementOf(this.#lanes, nodes)
    }
    return this.#cached // placement/3
  }
}

/** Returns the session of each lane; empty without nodes. */
export function placementOf(lanes: number, nodes: readonly Node[]): ReadonlyMap<number, string> {
  const placement = new Map<number, string>()
  const share = Math.ceil(lanes / Math.max(1, nodes.length))
  const load = new Map<string, number>()
  for (const { lane, session } of candidates(lanes, nodes)) {
    const held = load.get(session) ?? 0
    if (placement.has(lane) || held >= share) continue // placement/2
    placement.set(lane, session)
    load.set(session, held + 1)
  }
  return placement
}

/** Returns every pair of lane and node, by descending weight. (placement/1) */
function candidates(lanes: number, nodes: readonly Node[]): readonly Candidate[] {
  const all = nodes.flatMap(({ session, name }) =>
    Array.from({ length: lanes }, (_, lane) => ({ lane, session, weight: weightOf(name, lane) })),
  )
  return all.sort((a, b) => b.weight - a.weight || (a.session < b.session ? -1 : 1))
}

const weightOf = (name: string, lane: number): number =>
  createHash('sha1').update(`${name}/${lane}`).digest().readUIntBE(0, 6)
