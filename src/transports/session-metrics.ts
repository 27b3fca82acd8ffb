// Counts and gauges the sessions of a process.

import { CARRIERS } from '#domain/carrier'
import type { CarrierName } from '#domain/carrier'
import type { Meter } from '#domain/telemetry'
import type { Connection, Shared } from './connection.ts'

/**
 * Counts sessions that the gateway ends, by carrier and reason. The reasons are literals in this
 * folder, so they are few.
 */
export function endCounter(meter: Meter): (carrier: CarrierName, reason: string) => void {
  return (carrier, reason) => meter.counter('sessions_ended_total', { carrier, reason })()
}

/** Gauges over all connections of the process. */
export function observeSessions(
  meter: Meter,
  connections: ReadonlySet<Connection>,
  {
    held,
    listeners,
    reads,
    acknowledgements,
  }: Pick<Shared, 'held' | 'listeners' | 'reads' | 'acknowledgements'>,
): void {
  const sum = (valueOf: (connection: Connection) => number): number => {
    let total = 0
    for (const connection of connections) total += valueOf(connection)
    return total
  }
  for (const name of CARRIERS) {
    meter.gauge('sessions', { carrier: name }, () =>
      sum(({ carrier }) => (carrier.kind === name ? 1 : 0)),
    )
  }
  meter.gauge('sessions_behind', {}, () => sum(({ session }) => session.behind))
  meter.gauge('session_buffered_bytes', {}, () => held.bytes)
  meter.gauge('session_recent_bytes', {}, () => listeners.recentBytes)
  meter.gauge('session_reads_waiting', {}, () => reads.waiting)
  meter.gauge('acknowledgements_waiting', {}, () => acknowledgements.waiting)
}
