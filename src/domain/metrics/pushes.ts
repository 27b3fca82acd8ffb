// The metrics of dispatch and of the push providers.

import { SECONDS, counter, gauge, histogram } from './metric-shape.ts'
import type { MetricShape } from './metric-shape.ts'

export const PUSH_METRICS = {
  push_jobs: gauge('Jobs for push providers, counted up to 100,000', 'provider'),
  push_queue_age_seconds: gauge('How long the oldest job that is due has been so', 'provider'),
  push_held: gauge('Pushes that this process has claimed', 'provider'),
  push_in_flight: gauge('Pushes sent to the provider and not answered', 'provider'),
  push_concurrency: gauge('Pushes that the provider is given at once, at most', 'provider'),
  push_circuit_open: gauge('1 while the provider does not answer and is left alone', 'provider'),
  push_credentials_refused: gauge('1 while the provider refuses the credentials', 'provider'),
  push_providers_differing: gauge('Nodes that make pushes for other providers than this one'),
  known_preferences: gauge('Preferences and time zones that this process remembers'),
  push_services: gauge('Push services of devices that this process remembers', 'provider'),
  push_services_resting: gauge(
    'Push services of devices that failed and are left alone for a while',
    'provider',
  ),
  push_seconds: histogram('From sending a push to the answer of the provider', SECONDS, 'provider'),
  pushes_total: counter('Pushes ended', 'provider', 'outcome'),
  push_refusals_total: counter(
    'Pushes that the provider refused, for good or for now',
    'provider',
    'reason',
  ),
  push_retries_total: counter('Pushes put off to be sent again', 'provider'),
} as const satisfies Record<string, MetricShape>
