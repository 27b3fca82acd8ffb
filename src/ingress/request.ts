// What handlers get and give. No type of the HTTP library is among it.

import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'

/** What a handler gets: plain values, nothing of the HTTP library. */
export interface Request {
  readonly requestId: string
  /** The JSON body; undefined on routes without one. */
  readonly body: unknown
  /** The named parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** When the whole request had arrived, in Unix milliseconds. */
  readonly receivedAtMs: number
  /** Counts one more password guess in the budget; the fault when it is used up. */
  countGuess(): Fault | undefined
}

/** An answer without the envelope. */
export interface Document {
  readonly kind: 'document'
  readonly contentType: string
  readonly body: string
}

/** A failure that still has something to show. */
export interface Unready {
  readonly kind: 'unready'
  readonly fault: Fault
  readonly data: object
}

export type Result = Answer<object> | Document | Unready
export type Handler = (request: Request) => Result | Promise<Result>

/** The shared checks of a route, and what answers behind them. */
export interface Checks {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** With `{name}` for each named part. */
  readonly path: string
  /** Whether the gateway token is asked for. */
  readonly token: 'required' | 'none'
  /** Whether requests count in the password budget. */
  readonly budget: 'counted' | 'free'
  readonly body: 'json' | 'none'
  /** How many bytes the body may have, where that is more than every route takes. */
  readonly bodyBytesMax?: number
  readonly handle: Handler
}
