// Keeps the metrics of one thread as plain numbers, which cross threads and add up there. A library
// for that would take 5 MB of each thread; the main thread has one, for the figures of the process
// and for the text. (metrics.ts)
//
// Invariants:
//   meter/1. Counters and histograms of one name and the same labels are one handle, so callers may
//            ask for it per request; memory grows with what is counted, not with the requests.
//   meter/2. A metric has at most SERIES_MAX handles; beyond these each label reads 'other'.

import { METRICS } from '#domain/telemetry'
import type { Meter } from '#domain/telemetry'

const PREFIX = 'heliograph_'

/** Far above the labels that the product has: codes, reasons and names of its own lists. */
export const SERIES_MAX = 200
const OTHER = 'other'

type MetricName = keyof typeof METRICS
type Labels = Readonly<Record<string, string | number>>

/** One thread's metrics as plain data, which can cross threads. */
export type MetricsPart = readonly MetricData[]

/** A metric with its values, as the library of the main thread adds them up. */
interface MetricData {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly aggregator: string
  readonly values: readonly MetricValue[]
}

/** Values with equal name and labels add up, within one thread and among several. */
interface MetricValue {
  readonly labels: Labels
  readonly value: number
  /** The name behind that of the metric, for the parts of a histogram. */
  readonly metricName?: string
}

/** The meter of a thread. */
export interface Metrics {
  readonly meter: Meter
  /** This thread's figures. */
  part(): Promise<MetricsPart>
  /** The number of handles that were made, those of gauges included. (meter/1) */
  series(): number
}

/** The metrics of one thread. */
export function createMetrics(): Metrics {
  const reads = new Map<MetricName, (() => readonly MetricValue[])[]>()
  const add = (name: MetricName, read: () => readonly MetricValue[]): void => {
    const known = reads.get(name)
    if (known === undefined) reads.set(name, [read])
    else known.push(read)
  }
  const counters = new Handles<(by?: number) => void>()
  const histograms = new Handles<(value: number) => void>()
  const meter: Meter = {
    counter: (name, labels) =>
      counters.of(name, labels, (bounded) => {
        const { read, count } = counterOf(bounded)
        add(name, read)
        return count
      }),
    histogram: (name, labels) =>
      histograms.of(name, labels, (bounded) => {
        const { read, observe } = histogramOf(PREFIX + name, METRICS[name].buckets, bounded)
        add(name, read)
        return observe
      }),
    gauge: (name, labels, read) => add(name, () => [{ labels: { ...labels }, value: read() }]),
  }
  const series = (): number => [...reads.values()].reduce((sum, all) => sum + all.length, 0)
  const part = (): Promise<MetricsPart> =>
    Promise.resolve([...reads].map(([name, all]) => dataOf(name, all)))
  return { meter, part, series }
}

/** The handles of one kind, by name and labels. */
class Handles<Handle> {
  readonly #byName = new Map<MetricName, Map<string, Handle>>()

  of(name: MetricName, labels: Labels, make: (bounded: Labels) => Handle): Handle {
    const named = this.#byName.get(name) ?? new Map<string, Handle>()
    this.#byName.set(name, named)
    const known = named.get(keyOf(name, labels)) // meter/1
    if (known !== undefined) return known
    const bounded = named.size < SERIES_MAX ? { ...labels } : othersOf(labels) // meter/2
    const key = keyOf(name, bounded)
    const handle = named.get(key) ?? make(bounded)
    named.set(key, handle)
    return handle
  }
}

const keyOf = (name: MetricName, labels: Labels): string =>
  METRICS[name].labels.map((label) => labels[label]).join('\0')
const othersOf = (labels: Labels): Labels =>
  Object.fromEntries(Object.keys(labels).map((label) => [label, OTHER]))

const dataOf = (
  name: MetricName,
  reads: readonly (() => readonly MetricValue[])[],
): MetricData => ({
  name: PREFIX + name,
  help: METRICS[name].help,
  type: METRICS[name].kind,
  aggregator: 'sum',
  values: reads.flatMap((read) => read()),
})

/** A counter with labels has no line before it counts: most error codes never come. */
function counterOf(labels: Labels) {
  const isAlwaysShown = Object.keys(labels).length === 0
  let value = 0
  return {
    count: (by = 1): void => {
      value += by
    },
    read: () => (value > 0 || isAlwaysShown ? [{ labels, value }] : []),
  }
}

function histogramOf(name: string, buckets: readonly number[], labels: Labels) {
  /** Numbers of values at or below each bound and above the one before; the last has no bound. */
  const counts = new Float64Array(buckets.length + 1)
  let sum = 0
  const read = (): readonly MetricValue[] => {
    let count = 0
    const lines = [...buckets, '+Inf'].map((le, index) => {
      count += counts[index] ?? 0
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    return [
      ...lines,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
  const observe = (value: number): void => {
    let index = 0
    while (value > (buckets[index] ?? Infinity)) index += 1
    counts[index] = (counts[index] ?? 0) + 1
    sum += value
  }
  return { observe, read }
}
