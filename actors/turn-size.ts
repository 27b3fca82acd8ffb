// The size of a turn by what it makes: one update may set off a thousand rules.
//
// Invariants:
//   turn-size/1. A turn makes at most ENTRIES_MAX entries, and those of one submission more: a turn
//     that would make more is decided anew without the submissions behind. (W7)

import type { Submission } from '#domain/submission'
import type { Item } from './turn-item.ts'

/** Some 0.4 s of the database, four entries for each submission of the greatest turn. */
export const ENTRIES_MAX = 8_192

/** A turn that makes too much. Its actors have forgotten what they knew. */
export class TurnTooLarge extends Error {
  readonly #stoppedAt: Submission

  /** `stoppedAt`: the submission before which it had made as much as a turn may. */
  constructor(stoppedAt: Submission) {
    super(`a turn makes more than ${ENTRIES_MAX} entries`)
    this.#stoppedAt = stoppedAt
  }

  /** The items that fit; at least one, since a turn begins with room. */
  fitting(items: readonly Item[]): readonly Item[] {
    return items.slice(
      0,
      items.findIndex(({ submission }) => submission === this.#stoppedAt),
    )
  }
}

/** Decides items, or as many of them as fit; calls `cut` for each time that they were too many. */
export async function decideFitting<Decided>(
  items: readonly Item[],
  decide: (items: readonly Item[]) => Promise<Decided>,
  cut: () => void,
): Promise<Decided> {
  try {
    return await decide(items)
  } catch (error) {
    if (!(error instanceof TurnTooLarge)) throw error
    cut()
    return decideFitting(error.fitting(items), decide, cut)
  }
}

/** The same turn, or undefined for one that must wait: a turn before it is not committed yet. */
export async function unlessTooLarge<Decided>(
  deciding: Promise<Decided>,
): Promise<Decided | undefined> {
  try {
    return await deciding
  } catch (error) {
    if (error instanceof TurnTooLarge) return undefined
    throw error
  }
}
