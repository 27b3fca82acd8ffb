// Pauses between attempts at the same thing.

const RETRY_MS = [0, 50, 100, 250, 500, 1000, 2000]

/** Milliseconds to wait after so many failures: none at first, growing to two seconds. */
export const retryDelayMs = (times: number): number =>
  RETRY_MS[Math.min(times, RETRY_MS.length - 1)] ?? 0
