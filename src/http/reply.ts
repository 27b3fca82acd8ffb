// One HTTP answer before it is written.

import type { FaultCode } from '#domain/fault'

// Not imported: that would load the HTTP/2 and WebSocket clients of Node too, 13 MB for a table.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

export type Header = readonly [name: string, value: string]

/** `x-request-id` and the headers of `commonHeaders` are added to every answer. */
export interface Reply {
  readonly status: number
  /** Undefined for an answer without content. */
  readonly contentType: string | undefined
  readonly headers: readonly Header[]
  readonly body: string | Uint8Array | Stream
  /** The Cache-Control header; absent for no-store. */
  readonly cache?: string
  /** The fault behind the answer, for the operator's metrics. */
  readonly code?: FaultCode
}

/** An answer whose body is a text. */
export type TextReply = Reply & { readonly body: string }

/** A body that is made while it is sent, as fast as its reader takes it. */
export interface Stream {
  /** Made by a mounted handler, which may stream without end: counted apart while draining. */
  readonly isMounted?: true
  /** Begins. `signal` aborts when the caller is gone or the gateway is about to stop: end then. */
  open(signal: AbortSignal): AsyncIterable<string | Uint8Array>
}

export const NO_HEADERS: readonly Header[] = []
export const JSON_TYPE = 'application/json; charset=utf-8'
export const NO_STORE = 'no-store'

/** The status in the form of an answer's first line. */
export const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`

/** No browser guesses another content type than the one named. */
const NO_SNIFF: Header = ['x-content-type-options', 'nosniff']
/** A year: browsers that came over https once come back over https. (decisions.md 16) */
const ALWAYS_HTTPS: Header = ['strict-transport-security', 'max-age=31536000']

/** The headers of every answer of a listener; `isHttps`: callers know it by an https address. */
export const commonHeaders = (isHttps: boolean): readonly Header[] =>
  isHttps ? [NO_SNIFF, ALWAYS_HTTPS] : [NO_SNIFF]

/** Every header of an answer. */
export const headersOf = (
  reply: Reply,
  requestId: string,
  common: readonly Header[],
): readonly Header[] => [
  ...contentTypeOf(reply),
  ...common,
  ['cache-control', reply.cache ?? NO_STORE],
  ['x-request-id', requestId],
  ...reply.headers,
]

const contentTypeOf = ({ contentType }: Reply): readonly Header[] =>
  contentType === undefined ? NO_HEADERS : [['content-type', contentType]]

/** True for a status whose answers have no body, not even an empty one. (RFC 9110, 6.4.1) */
export const hasNoBody = (status: number): boolean => status === 204 || status === 304

export const isStream = (body: Reply['body']): body is Stream =>
  typeof body !== 'string' && !(body instanceof Uint8Array)
