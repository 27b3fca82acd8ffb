// Parses Retry-After: seconds or a date.

const AFTER_MS_MAX = 3_600_000

/** Returns milliseconds from now, at most an hour; undefined without a valid header. */
export function afterMsFrom(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined
  const seconds = Number(header)
  const afterMs = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000
  if (!Number.isFinite(afterMs) || afterMs < 0) return undefined
  return Math.min(afterMs, AFTER_MS_MAX)
}
