// Waiting for the thing itself. The bound is real time and generous: a busy machine is no failure.

import { setTimeout as pause } from 'node:timers/promises'

/** Turns of the event loop that are looked at before the processor is left to others in between. */
const TURNS = 2_000
const WITHIN_MS = 30_000

/** One turn of the event loop: everything that was due has run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Returns true `max` times, then throws: the bound of a loop that ends in another way. */
export function rounds(max = 1_000): () => boolean {
  let left = max
  return () => {
    left -= 1
    if (left < 0) throw new Error(`a loop did not end within ${max} rounds`)
    return true
  }
}

/**
 * Resolves once `isSo` is true. Rejects after 30 seconds, naming what was awaited.
 */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const startedAt = performance.now()
  for (let turns = 0; performance.now() - startedAt < WITHIN_MS; turns += 1) {
    if (isSo()) return
    await (turns < TURNS ? turn() : pause(1))
  }
  throw new Error(`waited in vain until ${what}`)
}
