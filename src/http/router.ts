// The interface between routes and what hands requests to them, without the HTTP library.

import type { Exchange } from './exchange.ts'
import type { Header } from './reply.ts'

/** The head of a request. Readable only until the handler that got it returns. (http/1) */
export interface Head {
  readonly method: string
  /** The first value of a header; '' when there is none. */
  header(name: string): string
  /** Every header line as sent, its name in lower case. */
  allHeaders(): readonly Header[]
  /** The query as sent, without the question mark. */
  query(): string
  /** Path and query as sent. */
  readonly target: string
  /** A part of the path as sent, by its place among the named parts. */
  parameter(index: number): string
  /** The address of the caller, also behind a trusted proxy. */
  readonly address: string
}

export type Begin = (head: Head, exchange: Exchange) => void
export type RowMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
export type Method = RowMethod | 'HEAD' | 'any'

/** Hands each request to its route. */
export interface Router {
  readonly isDraining: boolean
  readonly inFlight: number
  route(method: Method, pattern: string, begin: Begin): void
  /** Gets requests for a WebSocket: a stream as the answer goes out in its frames. */
  socket(pattern: string, begin: Begin): void
}

/** True when a router serves this host, which comes in lower case and without its port. */
export type HostCheck = (host: string) => boolean
