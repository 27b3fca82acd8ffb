// How long to wait before the same thing is tried again.

const RETRY_MS = [0, 50, 100, 250, 500, 1000, 2000]

/**
 * Milliseconds before the try after so many failures: none at first, then growing to two seconds.
 */
export const retryDelayMs = (times: number): number =>
  RETRY_MS[Math.min(times, RETRY_MS.length - 1)] ?? 0
