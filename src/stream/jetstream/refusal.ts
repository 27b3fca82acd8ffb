// Reads why a stream did not store a published batch.

import { JetStreamApiError } from '@nats-io/jetstream'
import type { LogPosition } from '#domain/lane'

export type Refusal =
  /**
   * The writer's subject ends at another position than the attempt expected; 0 when it is empty.
   */
  | { readonly kind: 'other-end'; readonly last: LogPosition }
  /** The stream's byte bound is reached. */
  | { readonly kind: 'full' }
  /** No server leads the stream, so the attempt reached nobody. */
  | { readonly kind: 'nobody' }
  /** No answer to the attempt came. */
  | { readonly kind: 'no-word'; readonly reason: string }

// Codes of the server's error list: wrong last sequence; storing failed; out of storage.
const WRONG_LAST_SEQUENCE = 10_071
const STORE_FAILED = 10_077
const OUT_OF_STORAGE: readonly number[] = [10_002, 10_023, 10_047]
/** Storing fails for more reasons than the bound; only its text tells them apart. */
const BOUND_REACHED = /maximum bytes/
const LAST_SEQUENCE = /^wrong last sequence: (\d+)$/
/** The client throws this name when nobody listens on the subject; it does not export the class. */
const NOBODY = 'JetStreamNotEnabled'

/** Reads the error with which the client rejects a publish. */
export function readRefusal(error: unknown): Refusal {
  if (!(error instanceof JetStreamApiError)) {
    if (error instanceof Error && error.name === NOBODY) return { kind: 'nobody' }
    return { kind: 'no-word', reason: error instanceof Error ? error.message : String(error) }
  }
  const { code, message } = error
  const last = LAST_SEQUENCE.exec(message)?.[1]
  if (code === WRONG_LAST_SEQUENCE && last !== undefined) {
    return { kind: 'other-end', last: Number(last) }
  }
  const isFull = code === STORE_FAILED && BOUND_REACHED.test(message)
  return isFull || OUT_OF_STORAGE.includes(code)
    ? { kind: 'full' }
    : { kind: 'no-word', reason: message }
}
