// A line of the last hour of one value: few points, however often the value comes.

const POINTS_MAX = 96
const SPAN_MS = 3_600_000

/**
 * Points of a value, the newest last. When there are too many, every second one goes and the least
 * distance between two doubles, so the line keeps its shape over any time up to an hour.
 */
export class Readings {
  readonly times: number[] = []
  readonly values: number[] = []
  /** Counts the changes: the arrays stay the same ones. */
  version = 0
  #distanceMs = 0

  /** Takes a value; one that is older than the newest is left out. */
  add(atMs: number, value: number): void {
    const last = this.times.at(-1)
    if (last !== undefined && atMs < last) return
    this.version += 1
    if (last !== undefined && this.times.length > 1 && atMs - last < this.#distanceMs) {
      this.values[this.values.length - 1] = value
      return
    }
    this.times.push(atMs)
    this.values.push(value)
    this.#forget(atMs - SPAN_MS)
    if (this.times.length > POINTS_MAX) this.#thin()
  }

  #forget(beforeMs: number): void {
    const kept = this.times.findIndex((time) => time >= beforeMs)
    this.times.splice(0, kept)
    this.values.splice(0, kept)
  }

  #thin(): void {
    for (let at = this.times.length - 2; at > 0; at -= 2) {
      this.times.splice(at, 1)
      this.values.splice(at, 1)
    }
    const span = (this.times.at(-1) ?? 0) - (this.times[0] ?? 0)
    this.#distanceMs = Math.max(this.#distanceMs * 2, (span / POINTS_MAX) * 2)
  }
}

/**
 * The path of a line through the points, in a box of this size whose height stands for `leastSpan`
 * at least; '' for fewer than two points.
 */
export function linePath(
  { times, values }: { readonly times: readonly number[]; readonly values: readonly number[] },
  width: number,
  height: number,
  leastSpan = 0,
): string {
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  if (times.length < 2 || last <= first) return ''
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  const size = Math.max(high - low, leastSpan)
  const scale = size > 0 ? height / size : 0
  const middle = (low + high) / 2
  let path = ''
  for (const [at, value] of values.entries()) {
    const x = (((times[at] ?? 0) - first) / (last - first)) * width
    const y = height / 2 - (value - middle) * scale
    path += `${at === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
  }
  return path
}
