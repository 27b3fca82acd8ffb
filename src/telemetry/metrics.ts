// The metrics of a process: those of its threads, and the figures of the process itself.

import { AggregatorRegistry, Registry, collectDefaultMetrics } from 'prom-client'

import { createMetrics } from './meter.ts'
import type { Metrics, MetricsPart } from './meter.ts'

/** A part as the library types it: it types the kinds of metrics as numbers, but gives names. */
type LibraryPart = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Gauges with the names of counters; those by type, beside them, say the same and more. */
const SUMS = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/**
 * The metrics of the main thread, with those of the process: memory, CPU, event loop delay. Called
 * once: each thread would count the process again.
 */
export function createProcessMetrics(): Metrics {
  const own = createMetrics()
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of SUMS) registry.removeSingleMetric(name)
  const ofProcess = async (): Promise<MetricsPart> =>
    (await registry.getMetricsAsJSON()) as unknown as MetricsPart
  const part = async (): Promise<MetricsPart> => [...(await own.part()), ...(await ofProcess())]
  return { ...own, part }
}

/** One Prometheus text from the parts of all threads. */
export const metricsText = (parts: readonly MetricsPart[]): Promise<string> =>
  AggregatorRegistry.aggregate(parts as unknown as LibraryPart[]).metrics()
