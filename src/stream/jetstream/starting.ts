// Recognises the errors of servers that are still electing, or of a stream without a leader.

import { JetStreamApiError } from '@nats-io/jetstream'

/** Too few servers for the replicas, no leader known, not the leader any more. */
const STARTING_CODES = new Set([10_005, 10_008, 10_009])
/** The client does not export both classes. */
const STARTING_NAMES = new Set(['TimeoutError', 'JetStreamNotEnabled'])

/** True for a failure that the next attempt may not meet. */
export function isStarting(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return STARTING_CODES.has(error.code)
  return error instanceof Error && STARTING_NAMES.has(error.name)
}
