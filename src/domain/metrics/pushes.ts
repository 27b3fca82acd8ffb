// The metrics of dispatch and of the push providers.

import { SECONDS } from './metric-shape.ts'
import type { MetricShape } from './metric-shape.ts'

export const PUSH_METRICS = {
  push_jobs: {
    kind: 'gauge',
    help: 'Jobs for push providers, counted up to 100,000',
    labels: ['provider'],
  },
  push_queue_age_seconds: {
    kind: 'gauge',
    help: 'How long the oldest job that is due has been so',
    labels: ['provider'],
  },
  push_held: { kind: 'gauge', help: 'Pushes that this process has claimed', labels: ['provider'] },
  push_in_flight: {
    kind: 'gauge',
    help: 'Pushes sent to the provider and not answered',
    labels: ['provider'],
  },
  push_concurrency: {
    kind: 'gauge',
    help: 'Pushes that the provider is given at once, at most',
    labels: ['provider'],
  },
  push_circuit_open: {
    kind: 'gauge',
    help: '1 while the provider does not answer and is left alone',
    labels: ['provider'],
  },
  push_credentials_refused: {
    kind: 'gauge',
    help: '1 while the provider refuses the credentials',
    labels: ['provider'],
  },
  push_services: {
    kind: 'gauge',
    help: 'Push services of devices that this process remembers',
    labels: ['provider'],
  },
  push_services_resting: {
    kind: 'gauge',
    help: 'Push services of devices that failed and are left alone for a while',
    labels: ['provider'],
  },
  push_seconds: {
    kind: 'histogram',
    help: 'From sending a push to the answer of the provider',
    labels: ['provider'],
    buckets: SECONDS,
  },
  pushes_total: { kind: 'counter', help: 'Pushes ended', labels: ['provider', 'outcome'] },
  push_refusals_total: {
    kind: 'counter',
    help: 'Pushes that the provider refused, for good or for now',
    labels: ['provider', 'reason'],
  },
  push_retries_total: {
    kind: 'counter',
    help: 'Pushes put off to be sent again',
    labels: ['provider'],
  },
} as const satisfies Record<string, MetricShape>
