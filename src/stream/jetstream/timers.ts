// Time as this folder uses it: passed in, so that tests can turn it by hand.

export interface Timers {
  /** Calls back once after a delay. Gives the way to cancel. */
  after(delayMs: number, callback: () => void): () => void
}

/** Milliseconds that only ever grow, from any beginning. It says nothing about the hour. */
export type MonotonicMs = () => number

/** Resolves after a delay. */
export const pause = (timers: Timers, delayMs: number): Promise<void> =>
  new Promise((resolve) => void timers.after(delayMs, resolve))
