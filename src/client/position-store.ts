// Stores for a device's positions, which outlive its program.

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { isCount, jsonOf, recordOf } from '#domain/record'

/** By channel_id the seq up to which the device has handled every entry. */
export type SavedPositions = ReadonlyMap<string, number>

/**
 * Keeps the positions of one device. `heliograph/node` has one in a file; a program that keeps them
 * in the same transaction as its own data gets each entry exactly once, even after a crash.
 */
export interface PositionStore {
  /** Returns the last saved positions; empty before any. Called once, before the first session. */
  load(): Promise<SavedPositions>
  /** Replaces the saved positions. Called again only once the call before has ended. */
  save(positions: SavedPositions): Promise<void>
}

/** Keeps positions in memory, from the given ones on. */
export function memoryPositions(initial: SavedPositions = new Map()): PositionStore {
  let saved = initial
  return {
    load: async () => saved,
    save: async (positions) => {
      saved = positions
    },
  }
}

/** The part of Web Storage that `localStoragePositions` uses. */
export type TextStorage = Pick<Storage, 'getItem' | 'setItem'>

/**
 * Keeps positions in the localStorage of a browser. Each device of a page needs a name of its own.
 * `load` rejects when the name has another value.
 */
export function localStoragePositions(
  name: string,
  storage: TextStorage = globalThis.localStorage,
): PositionStore {
  return {
    load: async () => readPositions(storage.getItem(name) ?? '{}', name),
    save: async (positions) => storage.setItem(name, positionsText(positions)),
  }
}

/** Positions as JSON: an object of channel ids and seqs. */
export const positionsText = (positions: SavedPositions): string =>
  JSON.stringify(Object.fromEntries(positions))

/** Reads a text of `positionsText`. Throws a TypeError that names `where` for another text. */
export function readPositions(text: string, where: string): SavedPositions {
  const pairs = recordOf(jsonOf(text))
  const positions = pairs && checkedPositions(Object.entries(pairs))
  if (positions === undefined) throw new TypeError(`${where} does not hold positions of a device`)
  return positions
}

/** Positions by canonical id; undefined when a pair is no position. */
export function checkedPositions(
  pairs: Iterable<readonly [string, unknown]>,
): Map<ChannelId, number> | undefined {
  const positions = new Map<ChannelId, number>()
  for (const [name, seq] of pairs) {
    const channelId = parseChannelId(name)
    if (channelId === undefined || !isCount(seq)) return undefined
    positions.set(channelId, seq)
  }
  return positions
}
