// Metrics and log lines for the operator. One list has every metric.
//
// No secret (channel password, token, device key, provider token) is given to either.

import { PUSH_METRICS } from './metrics/pushes.ts'
import { REQUEST_METRICS } from './metrics/requests.ts'
import { STAGE_METRICS } from './metrics/stages.ts'
import type { MetricShape } from './metrics/metric-shape.ts'

/** Every metric, under the name that it has at GET /metrics behind `heliograph_`. */
export const METRICS = {
  ...REQUEST_METRICS,
  ...STAGE_METRICS,
  ...PUSH_METRICS,
} as const satisfies Record<string, MetricShape>

export type MetricName = keyof typeof METRICS
type Named<Kind> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never
}[MetricName]
type Labels<Name extends MetricName> = Record<(typeof METRICS)[Name]['labels'][number], string>

/**
 * Takes measurements. Make handles once, at the start: using one is cheap on the hot path. Asking
 * for the same name and labels again returns the same handle, and the handles of a metric are
 * bounded. (meter/1, meter/2)
 */
export interface Meter {
  counter<Name extends Named<'counter'>>(name: Name, labels: Labels<Name>): (by?: number) => void
  histogram<Name extends Named<'histogram'>>(
    name: Name,
    labels: Labels<Name>,
  ): (value: number) => void
  /** `read` is called whenever the metrics are read. */
  gauge<Name extends Named<'gauge'>>(name: Name, labels: Labels<Name>, read: () => number): void
}

/** Writes one line per fact. `fact` is a fixed sentence; `fields` holds the variable parts. */
export interface Logger {
  debug(fact: string, fields?: Readonly<Record<string, unknown>>): void
  info(fact: string, fields?: Readonly<Record<string, unknown>>): void
  warn(fact: string, fields?: Readonly<Record<string, unknown>>): void
  error(fact: string, fields?: Readonly<Record<string, unknown>>): void
}
