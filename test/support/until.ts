// Waiting for the thing itself. The bound is generous, and leaves out the time in which the machine
// let this process wait: a busy machine is no failure.

import { setTimeout as pause } from 'node:timers/promises'
import { WAIT_MS } from './bounds.ts'

/** Turns of the event loop that are looked at before the processor is left to others in between. */
const TURNS = 2_000
/** A turn or pause takes a few of these; what it takes beyond, it waited for the processor. */
const LOOK_MS_MAX = 20

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
 * Resolves once `isSo` is true. Rejects after WAIT_MS of a machine that has time for this
 * process, naming what was awaited.
 */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  let waitedMs = 0
  let lookedAt = performance.now()
  for (let turns = 0; waitedMs < WAIT_MS; turns += 1) {
    if (isSo()) return
    await (turns < TURNS ? turn() : pause(1))
    const now = performance.now()
    waitedMs += Math.min(now - lookedAt, LOOK_MS_MAX)
    lookedAt = now
  }
  throw new Error(`waited in vain until ${what}`)
}
