// How long to wait before the next attempt: twice as long each time, within a bound.

/** The pauses between attempts at the same thing. */
export interface BackoffRange {
  readonly firstMs: number
  readonly maxMs: number
}

/** Milliseconds to wait: the first pause, doubled so many times, up to the longest. */
export const doubledMs = ({ firstMs, maxMs }: BackoffRange, times: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(times, 30))
