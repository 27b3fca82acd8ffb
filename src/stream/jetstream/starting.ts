// Recognises the errors of servers that are electing a leader, and of a stream that has none.

import { JetStreamApiError } from '@nats-io/jetstream'

/** Error codes: too few servers for the replicas; no known leader; not the leader any more. */
const STARTING_CODES = new Set([10_005, 10_008, 10_009])
/** Names, because the client does not export both classes. */
const STARTING_NAMES = new Set(['TimeoutError', 'JetStreamNotEnabled'])

/** True for a failure that may pass by the next attempt. */
export function isStarting(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return STARTING_CODES.has(error.code)
  return error instanceof Error && STARTING_NAMES.has(error.name)
}
