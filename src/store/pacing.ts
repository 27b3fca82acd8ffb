// Time and chance as this folder uses them: passed in, so that tests can choose them.

import { randomInt } from 'node:crypto'

export interface Pacing {
  /** Calls back once after a delay. Gives the way to cancel. */
  after(delayMs: number, callback: () => void): () => void
  /** From 0 to below 1. */
  random(): number
}

const STEPS = 2 ** 32

/** The machine's own. */
export const machinePacing: Pacing = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
  random: () => randomInt(STEPS) / STEPS,
}
