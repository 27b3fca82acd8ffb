// Headers on their way to a mounted handler and back.

import type { IncomingMessage } from 'node:http'

import type { Header } from './reply.ts'

/** Headers of one connection, and those by which only the gateway says where a request is from. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
])

/** Facts that the gateway adds to a request. */
export interface Origin {
  readonly address: string
  readonly requestId: string
}

/** The headers of a request as its handler gets them. Throws for those that node:http refuses. */
export function forwardedHeaders(
  headers: readonly Header[],
  { address, requestId }: Origin,
): Record<string, string[]> {
  const forwarded: Record<string, string[]> = {}
  for (const [name, value] of headers) {
    // A character of node's headers is one byte.
    const bytes = Buffer.from(value).toString('latin1')
    if (!NOT_FORWARDED.has(name)) (forwarded[name] ??= []).push(bytes)
  }
  return { ...forwarded, 'x-forwarded-for': [address], 'x-request-id': [requestId] }
}

/** Headers that the exchange writes itself, and those of the connection to the handler. */
const NOT_ANSWERED = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'strict-transport-security',
  'transfer-encoding',
  'x-content-type-options',
  'x-request-id',
])

/** The headers of a handler's answer, each line for itself. */
export const answerHeaders = ({ rawHeaders }: IncomingMessage): readonly Header[] =>
  rawHeaders.flatMap((name, at): Header[] => {
    const lower = name.toLowerCase()
    if (at % 2 === 1 || NOT_ANSWERED.has(lower)) return []
    return [[lower, Buffer.from(rawHeaders[at + 1] ?? '', 'latin1').toString()]]
  })
