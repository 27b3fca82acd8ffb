// Answerers: each gives a row's outcomes and refusals their shape.

import type { Fault } from '#domain/fault'
import type { Request } from './request.ts'
import { FAULTS } from '#domain/fault'
import { NO_HEADERS, JSON_TYPE } from '#src/http/reply'
import type { Header, Reply, Stream, TextReply } from '#src/http/reply'
import { localeOf, sentenceOf } from '#src/refusals/localise'
import {
  STATUS,
  failureHeaders,
  CATEGORY,
  detailOf,
  isRetryable,
  lineOf,
} from '#src/refusals/refusal'

export interface Answerer<Data = unknown> {
  /** True when refusals follow Accept-Language. */
  readonly isLocalised: boolean
  success(data: Data, request: Request): Reply
  /** The request may have been refused before its body was read. */
  failure(fault: Fault, request: Request): Reply
}

/** The envelope of the native routes around what `toWire` makes of the data. */
export const envelope = <Data>(toWire: (data: Data) => object): Answerer<Data> => ({
  isLocalised: true,
  success: (data) => success(toWire(data)),
  failure: (fault, request) => failure(fault, request),
})

/** The envelope around the handler's data. */
export const ENVELOPE: Answerer<object> = envelope((data: object) => data)

/** The content of an answer in the shape of another tool. */
export interface Imitated {
  readonly status?: number
  readonly contentType: string
  readonly headers?: readonly Header[]
  readonly body: string
}

/** Writes answers as another tool does. `status` is the true one; its shape may repeat it. */
export interface Shape<Data> {
  success(data: Data, request: Request): Imitated
  failure(fault: Fault, status: number, request: Request): Imitated
}

/** Answers in the shape of another tool; the headers of 401, 429 and 503 are added. */
export const imitation = <Data>(shape: Shape<Data>): Answerer<Data> => ({
  isLocalised: false,
  success: (data, request) => ({
    status: 200,
    headers: NO_HEADERS,
    ...shape.success(data, request),
  }),
  failure: (fault, request) => {
    const status = STATUS[fault.code]
    const imitated = shape.failure(fault, status, request)
    const headers = [...failureHeaders(fault), ...(imitated.headers ?? NO_HEADERS)]
    return { status, ...imitated, headers, code: fault.code }
  },
})

/** A document outside the envelope. */
export interface Document {
  readonly contentType: string
  readonly body: string | Uint8Array
  /** The etag, quoted as in the header: a caller that has this version gets 304. */
  readonly etag?: string
  /** The Cache-Control header; absent for no-store. */
  readonly cache?: string
  readonly headers?: readonly Header[]
}

/** The header that a row of documents with an etag wants. */
export const IF_NONE_MATCH = 'if-none-match'

/** Answers with bytes, or with 304 when the caller has them; refuses in the envelope. */
export const DOCUMENT: Answerer<Document> = {
  isLocalised: true,
  success: ({ contentType, body, etag, cache, headers: own = NO_HEADERS }, { headers: sent }) => {
    const headers: readonly Header[] = etag === undefined ? own : [['etag', etag], ...own]
    const isKnown = etag !== undefined && knows(sent[IF_NONE_MATCH] ?? '', etag)
    return {
      status: isKnown ? 304 : 200,
      contentType,
      headers,
      body: isKnown ? '' : body,
      ...(cache !== undefined && { cache }),
    }
  },
  failure: (fault, request) => failure(fault, request),
}

/** RFC 9110, 13.1.2: a list of etags, weak ones too, or `*`. */
const knows = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((item) => {
    const known = item.trim().replace(/^W\//, '')
    return known === '*' || known === etag
  })

/** A body that its handler makes while it is sent. */
export interface StreamData extends Stream {
  readonly contentType: string
  readonly headers?: readonly Header[]
}

/** Answers with a stream as fast as the caller reads it; refuses in the envelope. */
export const STREAM: Answerer<StreamData> = {
  isLocalised: true,
  success: (stream) => ({
    status: 200,
    contentType: stream.contentType,
    headers: stream.headers ?? NO_HEADERS,
    body: stream,
  }),
  failure: (fault, request) => failure(fault, request),
}

/** The success envelope around the JSON of data. */
export const enveloped = (data: string): string => `{"success":true,"data":${data}}`

/** The answer 200 with the success envelope. */
export const success = (data: object): TextReply => ({
  status: 200,
  contentType: JSON_TYPE,
  headers: NO_HEADERS,
  body: enveloped(JSON.stringify(data)),
})

/** The request that was refused, and the languages that its caller wants. */
type Asking = Pick<Request, 'requestId' | 'acceptLanguage'>

/**
 * The answer to a fault, in the language that the caller asked for. `data` stands in it although
 * the answer is a failure: the findings of a probe.
 */
export function failure(fault: Fault, asking: Asking, data?: object): TextReply {
  const { code } = fault
  const status = STATUS[code]
  const category = CATEGORY[status]
  const locale = localeOf(asking.acceptLanguage)
  const detail = detailOf(fault)
  const body = JSON.stringify({
    success: false,
    error: lineOf(fault),
    error_code: code,
    problem: {
      code,
      category,
      status,
      title: FAULTS[code],
      detail,
      localized_message: sentenceOf(code, locale),
      locale,
      retryable: isRetryable(fault),
      request_id: asking.requestId,
    },
    data,
  })
  const headers: readonly Header[] = [['content-language', locale], ...failureHeaders(fault)]
  return { status, contentType: JSON_TYPE, headers, body, code }
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The caller's own request id when it has the form, else a new one. */
export const requestIdFrom = (header: string, newHex32: () => string): string =>
  header !== '' && REQUEST_ID.test(header) ? header : newHex32()
