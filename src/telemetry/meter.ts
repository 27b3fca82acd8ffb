// Keeps the metrics of one thread as plain numbers, which cross threads and add up there. A library
// for that would take 5 MB of each thread; the main thread has one, for the figures of the process
// and for the text. (metrics.ts)

import { METRICS } from '#domain/telemetry'
import type { Meter } from '#domain/telemetry'

const PREFIX = 'heliograph_'

type MetricName = keyof typeof METRICS
type Labels = Readonly<Record<string, string | number>>

/** One thread's metrics as plain data, which can cross threads. */
export type MetricsPart = readonly MetricData[]

/** A metric with its values, as the library of the main thread adds them up. */
export interface MetricData {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly aggregator: string
  readonly values: readonly MetricValue[]
}

/** Values with equal name and labels add up, within one thread and among several. */
export interface MetricValue {
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
}

/** The metrics of one thread. */
export function createMetrics(): Metrics {
  const reads = new Map<MetricName, (() => readonly MetricValue[])[]>()
  const add = (name: MetricName, read: () => readonly MetricValue[]): void => {
    const known = reads.get(name)
    if (known === undefined) reads.set(name, [read])
    else known.push(read)
  }
  const meter: Meter = {
    counter: (name, labels) => {
      const { read, count } = counterOf({ ...labels })
      add(name, read)
      return count
    },
    histogram: (name, labels) => {
      const { read, observe } = histogramOf(PREFIX + name, METRICS[name].buckets, { ...labels })
      add(name, read)
      return observe
    },
    gauge: (name, labels, read) => add(name, () => [{ labels: { ...labels }, value: read() }]),
  }
  const part = (): Promise<MetricsPart> =>
    Promise.resolve([...reads].map(([name, all]) => dataOf(name, all)))
  return { meter, part }
}

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
