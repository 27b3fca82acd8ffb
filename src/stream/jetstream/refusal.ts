// Classifies the error of a publish: whether the stream may have stored the batch, and why not.

import { JetStreamApiError } from '@nats-io/jetstream'
import type { LogPosition } from '#domain/lane'

export type Refusal =
  /**
   * The writer's subject ends at `last`, not where the attempt expected; 0 when it is empty.
   */
  | { readonly kind: 'other-end'; readonly last: LogPosition }
  /** The stream has reached its byte bound. */
  | { readonly kind: 'full' }
  /** No server leads the stream, so no server received the attempt. */
  | { readonly kind: 'no-leader' }
  /** The error does not say whether the stream stores the batch. */
  | { readonly kind: 'inconclusive'; readonly reason: string }

// Codes of the server's error list: wrong last sequence, store failed, out of storage.
const WRONG_LAST_SEQUENCE = 10_071
const STORE_FAILED = 10_077
const OUT_OF_STORAGE: readonly number[] = [10_002, 10_023, 10_047]
/** The store fails for several reasons; only the message distinguishes the byte bound. */
const BOUND_REACHED = /maximum bytes/
const LAST_SEQUENCE = /^wrong last sequence: (\d+)$/
/** The client throws an error of this name when no server listens; it does not export the class. */
const NO_LEADER = 'JetStreamNotEnabled'

/** Classifies the error with which the client rejects a publish. */
export function readRefusal(error: unknown): Refusal {
  if (!(error instanceof JetStreamApiError)) {
    if (error instanceof Error && error.name === NO_LEADER) return { kind: 'no-leader' }
    return { kind: 'inconclusive', reason: error instanceof Error ? error.message : String(error) }
  }
  const { code, message } = error
  const last = LAST_SEQUENCE.exec(message)?.[1]
  if (code === WRONG_LAST_SEQUENCE && last !== undefined) {
    return { kind: 'other-end', last: Number(last) }
  }
  const isFull = code === STORE_FAILED && BOUND_REACHED.test(message)
  return isFull || OUT_OF_STORAGE.includes(code)
    ? { kind: 'full' }
    : { kind: 'inconclusive', reason: message }
}
