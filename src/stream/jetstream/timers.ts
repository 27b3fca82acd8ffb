// Time as this folder uses it.

import type { Timers } from '#domain/ports'

/** Milliseconds that only ever grow, from any beginning. It says nothing about the hour. */
export type MonotonicMs = () => number

/** Resolves after a delay. */
export const pause = (timers: Timers, delayMs: number): Promise<void> =>
  new Promise((resolve) => void timers.after(delayMs, resolve))
