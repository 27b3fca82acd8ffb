// The clock and the delay that this folder uses.

import type { Timers } from '#domain/ports'

/** Returns milliseconds since an arbitrary start; they never decrease. Not the time of day. */
export type MonotonicMs = () => number

/** Resolves after a delay. */
export const pause = (timers: Timers, delayMs: number): Promise<void> =>
  new Promise((resolve) => void timers.after(delayMs, resolve))
