// Retry-After, in seconds or as a date.

const MOST_MS = 3_600_000

/** Milliseconds from now, an hour at most; undefined when the header says nothing. */
export function afterMsFrom(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined
  const seconds = Number(header)
  const afterMs = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000
  if (!Number.isFinite(afterMs) || afterMs < 0) return undefined
  return Math.min(afterMs, MOST_MS)
}
