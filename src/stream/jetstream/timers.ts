// Time as this folder uses it.

import type { Timers } from '#domain/ports'

/** Milliseconds that only grow, from an arbitrary start: not the time of day. */
export type MonotonicMs = () => number

/** Resolves after a delay. */
export const pause = (timers: Timers, delayMs: number): Promise<void> =>
  new Promise((resolve) => void timers.after(delayMs, resolve))
