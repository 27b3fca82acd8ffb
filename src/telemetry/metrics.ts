// Keeps the metrics of domain/telemetry.ts with prom-client.

import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  Registry,
  collectDefaultMetrics,
} from 'prom-client'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'

import { METRICS } from '#domain/telemetry'
import type { Meter } from '#domain/telemetry'

const PREFIX = 'heliograph_'

/** One thread's metrics as plain data, which can cross threads. */
export type MetricsPart = readonly MetricObjectWithValues<MetricValue<string>>[]

export interface Metrics {
  readonly meter: Meter
  /** This thread's figures. */
  part(): Promise<MetricsPart>
}

/**
 * The metrics of one thread. `isMain` adds those of the process (memory, CPU, event loop delay),
 * which otherwise each thread would count.
 */
export function createMetrics({ isMain }: { readonly isMain: boolean }): Metrics {
  const registry = new Registry()
  if (isMain) collectDefaultMetrics({ register: registry })
  const make = makersFor(registry)
  const meter: Meter = {
    counter: (name, labels) => {
      const tally = make.counter(name, labels)
      return (by = 1) => {
        tally.unread += by
      }
    },
    histogram: (name, labels) => {
      const child = make.histogram(name).labels(labels)
      return (value) => child.observe(value)
    },
    gauge: (name, labels, read) => make.gauge(name, labels, read),
  }
  return { meter, part: () => registry.getMetricsAsJSON() }
}

/** One Prometheus text from the parts of all threads. */
export function metricsText(parts: readonly MetricsPart[]): Promise<string> {
  return AggregatorRegistry.aggregate(parts.map((part) => [...part])).metrics()
}

/** Counts since the last read: prom-client would look up the labels each time. */
interface Tally {
  readonly labels: Partial<Record<string, string>>
  unread: number
}

function makersFor(registry: Registry) {
  const counters = new Map<string, Tally[]>()
  const histograms = new Map<string, Histogram>()
  const gauges = new Map<string, { readonly labels: object; readonly read: () => number }[]>()
  const options = (name: keyof typeof METRICS) => ({
    name: PREFIX + name,
    help: METRICS[name].help,
    labelNames: [...METRICS[name].labels],
    registers: [registry],
  })
  return {
    counter: (name: keyof typeof METRICS, labels: object): Tally => {
      const tally = { labels: { ...labels }, unread: 0 }
      const tallies = counters.get(name)
      if (tallies !== undefined) {
        tallies.push(tally)
        return tally
      }
      const all: Tally[] = [tally]
      counters.set(name, all)
      registry.registerMetric(
        new Counter({
          ...options(name),
          registers: [],
          collect() {
            for (const each of all) {
              if (each.unread > 0) this.inc(each.labels, each.unread)
              each.unread = 0
            }
          },
        }),
      )
      return tally
    },
    histogram: (name: keyof typeof METRICS): Histogram => {
      const shape = METRICS[name]
      const buckets = 'buckets' in shape ? [...shape.buckets] : []
      const made = histograms.get(name) ?? new Histogram({ ...options(name), buckets })
      histograms.set(name, made)
      return made
    },
    gauge: (name: keyof typeof METRICS, labels: object, read: () => number): void => {
      const reads = gauges.get(name)
      if (reads !== undefined) {
        reads.push({ labels, read })
        return
      }
      const all = [{ labels, read }]
      gauges.set(name, all)
      registry.registerMetric(
        new Gauge({
          ...options(name),
          registers: [],
          collect() {
            for (const each of all) this.set({ ...each.labels }, each.read())
          },
        }),
      )
    },
  }
}
