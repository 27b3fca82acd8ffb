// Remembers where chunks of a level may lie over each other often enough to be merged.
//
// Invariants:
//   candidates/1. A cell is looked at once as many runs wrote to it as chunks have to lie over each
//     other: with a thousand channels each run writes a thousand chunks, and to look at all of them
//     each time would take as long as joining.
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

/** A cell to which few runs wrote. */
interface Known {
  readonly candidate: Candidate
  readonly runs: number
  /** The last run that wrote to it. */
  readonly run: number
}

export class Candidates {
  readonly #cells = new Map<string, Known>()
  readonly #found = new Map<string, Candidate>()

  /** How many cells are remembered. */
  get size(): number {
    return this.#cells.size + this.#found.size
  }

  /** Takes note of chunks in the order in which they were written. */
  written(chunks: readonly Written[]): void {
    for (const { channel, tier, period, level, run, firstPlace, lastPlace } of chunks) {
      if (level === LAST_LEVEL) continue
      if (this.size === CANDIDATES_MAX) return this.#findAll() // candidates/2
      const name = `${channel} ${tier} ${period} ${level} ${firstPlace}`
      const candidate = { channel, tier, period, level, firstPlace, lastPlace }
      const known = this.#cells.get(name)
      const runs = known === undefined ? 1 : known.runs + (known.run === run ? 0 : 1)
      if (runs < MERGED) this.#cells.set(name, { candidate, runs, run })
      else this.#find(name, candidate) // candidates/1
    }
  }

  /** The candidates by their names, the oldest first; `drop` forgets one. */
  get found(): ReadonlyMap<string, Candidate> {
    return this.#found
  }

  drop(name: string): void {
    this.#found.delete(name)
  }

  #findAll(): void {
    for (const [name, { candidate }] of this.#cells) this.#find(name, candidate)
  }

  #find(name: string, candidate: Candidate): void {
    this.#found.set(name, candidate)
    this.#cells.delete(name)
  }
}
