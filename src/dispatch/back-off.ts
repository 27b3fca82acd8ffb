// Computes when to try again.

const FIRST_MS = 1_000
const MOST_MS = 300_000
const DOUBLINGS_MAX = 20

export interface Refusal {
  /** Earlier attempts. */
  readonly attempts: number
  /** Milliseconds that the provider asked to wait. */
  readonly afterMs?: number | undefined
  /** From 0 to below 1. */
  readonly random: () => number
}

/**
 * Milliseconds to the next attempt: twice as many each time, up to a half more at random, and never
 * fewer than the provider asked for.
 */
export function backOffMs({ attempts, afterMs = 0, random }: Refusal): number {
  const doubled = FIRST_MS * 2 ** Math.min(attempts, DOUBLINGS_MAX)
  const jittered = Math.min(MOST_MS, doubled) * (1 + random() / 2)
  // Spreads pushes that were told the same time.
  return Math.ceil(Math.max(jittered, afterMs + (afterMs * random()) / 10))
}
