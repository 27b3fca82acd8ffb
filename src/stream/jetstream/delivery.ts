// Reads a message's position in the stream and in the consumer from its reply subject, and its
// writer from its subject.

import type { LogPosition } from '#domain/lane'

export interface Delivery {
  readonly position: LogPosition
  /** Messages that the consumer has delivered, including this one. */
  readonly count: number
  /** The time at which the server stored it, in Unix milliseconds of the server's clock. */
  readonly atMs: number
  /** Messages that the consumer has yet to deliver. */
  readonly pending: number
}

const SHORT_TOKENS = 9
const DOMAIN_TOKENS = 2
const NANOS_IN_MS_DIGITS = 6

/**
 * Reads a subject of this form:
 * `$JS.ACK.<stream>.<consumer>.<attempt>.<stream seq>.<consumer seq>.<nanoseconds>.<pending>`.
 * Since server 2.11 domain and account may stand before the stream, and more tokens at the end.
 * Returns undefined for anything else.
 */
export function readDelivery(reply: string): Delivery | undefined {
  const tokens = reply.split('.')
  if (tokens.length < SHORT_TOKENS || tokens[1] !== 'ACK') return undefined
  const shift = tokens.length > SHORT_TOKENS ? DOMAIN_TOKENS : 0
  const [position, count, nanos, pending] = tokens.slice(5 + shift, 9 + shift)
  const delivery = {
    position: Number(position),
    count: Number(count),
    atMs: Number(nanos?.slice(0, -NANOS_IN_MS_DIGITS)),
    pending: Number(pending),
  }
  return Object.values(delivery).every(Number.isSafeInteger) ? delivery : undefined
}

/** Returns the writer whose subject in a lane this is. (lane-writer/1) */
export const writerIn = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1)
