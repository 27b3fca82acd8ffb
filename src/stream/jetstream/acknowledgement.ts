// What a stream answers to a published message, read once at this edge.

import type { Msg } from '@nats-io/transport-node'
import type { LogPosition } from '#domain/lane'

export type Acknowledgement =
  /** It is in the stream at this position, from this attempt or from an earlier one. */
  | { readonly kind: 'stored'; readonly position: LogPosition }
  /** The stream's byte bound is reached. */
  | { readonly kind: 'full' }
  /** It was not stored now; another attempt may succeed. */
  | { readonly kind: 'not-now'; readonly reason: string }

// Codes of the server's error list: storing failed, account or server out of storage.
const STORE_FAILED = 10_077
const OUT_OF_STORAGE: readonly number[] = [10_002, 10_023, 10_047]
/** Storing fails for more reasons than the bound; only its text tells them apart. */
const BOUND_REACHED = /maximum bytes/

/** `stream`: the only stream whose word counts. */
export function readAcknowledgement(message: Msg, stream: string): Acknowledgement {
  if (message.data.length === 0) {
    return { kind: 'not-now', reason: `status ${message.headers?.code ?? 0}` }
  }
  const answer = parse(message.string())
  const error = recordOf(answer['error'])
  if (error !== undefined) return refusalOf(error)
  const position = answer['seq']
  if (answer['stream'] !== stream || !Number.isSafeInteger(position) || Number(position) < 1) {
    return { kind: 'not-now', reason: 'the answer is no acknowledgement of this stream' }
  }
  return { kind: 'stored', position: Number(position) }
}

function refusalOf(error: Readonly<Record<string, unknown>>): Acknowledgement {
  const code = Number(error['err_code'])
  const reason = String(error['description'])
  const isFull = code === STORE_FAILED && BOUND_REACHED.test(reason)
  return isFull || OUT_OF_STORAGE.includes(code) ? { kind: 'full' } : { kind: 'not-now', reason }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(text)) ?? {}
  } catch {
    return {}
  }
}

/** The value as a record, when it is one. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
