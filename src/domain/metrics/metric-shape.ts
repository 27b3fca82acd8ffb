// The form of a metric's declaration, and the buckets of histograms.

export interface MetricShape {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
export const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]

type Labels = readonly string[]

/** Declares a counter, with the names of its labels. */
export const counter = <const Names extends Labels>(help: string, ...labels: Names) =>
  ({ kind: 'counter', help, labels }) as const

/** Declares a gauge, with the names of its labels. */
export const gauge = <const Names extends Labels>(help: string, ...labels: Names) =>
  ({ kind: 'gauge', help, labels }) as const

/** Declares a histogram, with the names of its labels. */
export const histogram = <const Names extends Labels>(
  help: string,
  buckets: readonly number[],
  ...labels: Names
) => ({ kind: 'histogram', help, labels, buckets }) as const
