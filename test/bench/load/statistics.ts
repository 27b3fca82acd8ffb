// Percentiles and medians of measured values.

export interface Latency {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
}

/**
 * The value that the given share of sorted values does not exceed (nearest rank); NaN when there is
 * none.
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[Math.min(rank, sorted.length) - 1] ?? Number.NaN
}

/** Median, least and greatest of a few runs; the lower middle when their number is even. */
export function spread(values: readonly number[]): { median: number; min: number; max: number } {
  const sorted = values.toSorted((left, right) => left - right)
  return {
    median: percentile(sorted, 0.5),
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  }
}

/** Keeps every latency of a run, exactly; sorted only when asked for. */
export class Latencies {
  #micros = new Float64Array(1 << 16)
  #count = 0

  add(micros: number): void {
    if (this.#count === this.#micros.length) {
      const grown = new Float64Array(this.#micros.length * 2)
      grown.set(this.#micros)
      this.#micros = grown
    }
    this.#micros[this.#count] = micros
    this.#count += 1
  }

  clear(): void {
    this.#count = 0
  }

  summary(): Latency {
    const sorted = this.#micros.slice(0, this.#count).sort()
    const inMs = (share: number): number => percentile(sorted, share) / 1_000
    return {
      count: this.#count,
      p50Ms: inMs(0.5),
      p99Ms: inMs(0.99),
      p999Ms: inMs(0.999),
      maxMs: inMs(1),
    }
  }
}
