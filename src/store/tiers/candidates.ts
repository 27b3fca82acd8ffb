// Remembers where chunks of a level may lie over each other often enough to be merged.
//
// Invariants:
//   candidates/1. A level of a group has candidates once as many runs wrote to it as chunks have to
//     lie over each other: with a thousand channels each run writes a thousand chunks, and to look
//     at all of them each time would take as long as joining. The merges of a run's cells, which
//     come one after the other, count as one: they are apart.
//   candidates/2. What is remembered is bounded. Once it is full, everything is looked at, so the
//     cells of many channels find their turn; one that is forgotten meanwhile is merged with the
//     next chunk of it, or once it is due. (W7)
//   candidates/3. Every chunk counts once, whoever wrote it: each restart, and each move of this
//     work to another node, would otherwise leave up to seven over each other, and those of days
//     have a year. So all are read where they were written, in the order of their commit.

import type { TierChunkRow } from '#src/store/entities/tiers'
import type { Cell } from './cells.ts'
import { LAST_LEVEL, MERGED } from './chunk-rows.ts'
import type { Group } from './chunk-rows.ts'

export const CANDIDATES_MAX = 20_000

/** Where chunks may lie over each other. `level`: absent for all of a group, as one is due. */
export interface Candidate extends Group, Cell {
  readonly level?: number
}

/** Where a chunk was written, and with which run. */
export type Written = Group & Cell & Pick<TierChunkRow, 'level' | 'run'>

/** A level to which few runs wrote, and its cells by their first place. */
interface Level {
  readonly runs: Set<number>
  readonly cells: Map<number, Candidate>
}

export class Candidates {
  readonly #levels = new Map<string, Level>()
  /** Cells of those levels. */
  #cells = 0
  readonly #found = new Map<string, Candidate>()

  /** How many cells are remembered. */
  get size(): number {
    return this.#cells + this.#found.size
  }

  /** Takes note of chunks in the order in which they were written. */
  written(chunks: readonly Written[]): void {
    const levels = new Map<string, Level>()
    for (const { channel, tier, period, level, run, firstPlace, lastPlace } of chunks) {
      if (level === LAST_LEVEL) continue
      if (this.size === CANDIDATES_MAX) return this.#promoteAll() // candidates/2
      const key = `${channel} ${tier} ${period} ${level}`
      let known = this.#levels.get(key)
      if (known === undefined)
        this.#levels.set(key, (known = { runs: new Set(), cells: new Map() }))
      levels.set(key, known)
      known.runs.add(run)
      if (!known.cells.has(firstPlace)) this.#cells += 1
      known.cells.set(firstPlace, { channel, tier, period, level, firstPlace, lastPlace })
    }
    for (const [key, known] of levels) {
      if (known.runs.size >= MERGED) this.#promote(key, known) // candidates/1
    }
  }

  /** The candidates by their names, the oldest first; `drop` forgets one. */
  get found(): ReadonlyMap<string, Candidate> {
    return this.#found
  }

  drop(name: string): void {
    this.#found.delete(name)
  }

  #promoteAll(): void {
    for (const [key, known] of this.#levels) this.#promote(key, known)
  }

  #promote(key: string, { cells }: Level): void {
    for (const [place, candidate] of cells) this.#found.set(`${key} ${place}`, candidate)
    this.#cells -= cells.size
    this.#levels.delete(key)
  }
}
