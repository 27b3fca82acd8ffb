// Defines the metrics of dispatch, by provider.

import { OPERATION_STATUSES } from '#domain/operation'
import type { EndedOperations, PushEnding } from '#domain/push'
import type { ProviderName } from '#domain/push/providers'
import type { Meter } from '#domain/telemetry'

/** Returns the values of the gauges. */
export interface Figures {
  readonly jobs: () => number
  readonly ageSeconds: () => number
  readonly held: () => number
  readonly inFlight: () => number
  readonly concurrency: () => number
  readonly isCircuitOpen: () => boolean
  readonly areCredentialsRefused: () => boolean
}

/**
 * The ending of a push. `unreadable`: set aside, because its entry cannot be read. (W6) `filtered`:
 * the preferences of its device leave it out.
 */
type PushOutcome = Exclude<PushEnding['kind'], 'deferred'> | 'unreadable' | 'filtered'

export interface Measures {
  readonly sent: (seconds: number) => void
  /** Counts a refused push by the reason that the provider gives. */
  readonly refused: (reason: string) => void
  readonly retried: () => void
  readonly ended: (kind: PushOutcome, count?: number) => void
  readonly operations: (ended: EndedOperations) => void
}

/** Bound for the reasons with a counter of their own; further ones count as `other`. */
const REASONS_MAX = 50

export function measuresOf(meter: Meter, provider: ProviderName, figures: Figures): Measures {
  const labels = { provider }
  const asNumber = (is: boolean): number => (is ? 1 : 0)
  meter.gauge('push_jobs', labels, figures.jobs)
  meter.gauge('push_queue_age_seconds', labels, figures.ageSeconds)
  meter.gauge('push_held', labels, figures.held)
  meter.gauge('push_in_flight', labels, figures.inFlight)
  meter.gauge('push_concurrency', labels, figures.concurrency)
  meter.gauge('push_circuit_open', labels, () => asNumber(figures.isCircuitOpen()))
  meter.gauge('push_credentials_refused', labels, () => asNumber(figures.areCredentialsRefused()))
  const seconds = meter.histogram('push_seconds', labels)
  const retried = meter.counter('push_retries_total', labels)
  const kinds = ['delivered', 'failed', 'expired', 'superseded', 'unreadable', 'filtered'] as const
  const ends = new Map(
    kinds.map((outcome) => [outcome, meter.counter('pushes_total', { provider, outcome })]),
  )
  const statuses = new Map(
    OPERATION_STATUSES.map((status) => [status, meter.counter('operations_total', { status })]),
  )
  const reasons = new Map<string, (by?: number) => void>()
  const reasonCounter = (given: string) => {
    const reason = reasons.has(given) || reasons.size < REASONS_MAX ? given : 'other'
    const counter =
      reasons.get(reason) ?? meter.counter('push_refusals_total', { provider, reason })
    reasons.set(reason, counter)
    return counter
  }
  return {
    sent: (took) => seconds(took),
    refused: (reason) => reasonCounter(reason)(),
    retried: () => retried(),
    ended: (kind, count = 1) => ends.get(kind)?.(count),
    operations: (ended) => {
      for (const status of OPERATION_STATUSES) {
        const count = ended[status] ?? 0
        if (count > 0) statuses.get(status)?.(count)
      }
    },
  }
}
