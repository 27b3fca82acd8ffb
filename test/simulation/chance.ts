// Random choices of a seed.

/** A whole number from 0 up to, without, `below`. */
export type Chance = (below: number) => number

/** A number of a range, both ends included. */
export const between = (chance: Chance, least: number, most: number): number =>
  least + chance(most - least + 1)

/** True with a probability, to a millionth. */
export const happens = (chance: Chance, probability: number): boolean =>
  probability > 0 && chance(1_000_000) < probability * 1_000_000

/** One of a list. */
export function oneOf<Item>(chance: Chance, items: readonly Item[]): Item {
  const item = items[chance(items.length)]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

/** The time until the next of events that come `perSecond` on average, in milliseconds. */
export const gapMs = (chance: Chance, perSecond: number): number =>
  (-Math.log(1 - chance(1_000_000) / 1_000_000) * 1_000) / perSecond
