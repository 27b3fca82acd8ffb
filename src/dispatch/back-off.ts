// Computes the delay before the next attempt.

const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 300_000
const DOUBLINGS_MAX = 20

export interface Refusal {
  /** The number of earlier attempts. */
  readonly attempts: number
  /** The delay that the provider asked for, in milliseconds. */
  readonly afterMs?: number | undefined
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
}

/**
 * Returns the milliseconds before the next attempt: exponential back-off with up to a half more at
 * random, and never less than the provider asked for.
 */
export function backOffMs({ attempts, afterMs = 0, random }: Refusal): number {
  const doubled = DELAY_MS_MIN * 2 ** Math.min(attempts, DOUBLINGS_MAX)
  const jittered = Math.min(DELAY_MS_MAX, doubled) * (1 + random() / 2)
  // Jitter spreads pushes for which the provider asked for the same delay.
  return Math.ceil(Math.max(jittered, afterMs + (afterMs * random()) / 10))
}
