// When to try again.

const FIRST_MS = 1_000
const MOST_MS = 300_000
const DOUBLINGS_MAX = 20

export interface Refusal {
  /** How often it was tried before. */
  readonly attempts: number
  /** What the provider asked for, in milliseconds. */
  readonly afterMs?: number | undefined
  /** From 0 to below 1. */
  readonly random: () => number
}

/**
 * Milliseconds to the next attempt: twice as long each time, by chance a half more, and never less
 * than what the provider asked for.
 */
export function backOffMs({ attempts, afterMs = 0, random }: Refusal): number {
  const doubled = FIRST_MS * 2 ** Math.min(attempts, DOUBLINGS_MAX)
  const jittered = Math.min(MOST_MS, doubled) * (1 + random() / 2)
  // Those that were told the same time do not come back at once.
  return Math.ceil(Math.max(jittered, afterMs + (afterMs * random()) / 10))
}
