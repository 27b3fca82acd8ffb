// Answers of the envelope: success, and faults with their status, headers and body.
// (Specification: Errors; decisions.md 2)

import { FAULTS } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { JSON_TYPE, NO_HEADERS } from '#src/http/reply'
import type { Header, TextReply } from '#src/http/reply'
import { localeOf, sentenceOf } from '#src/refusals/localise'
import {
  CATEGORY,
  STATUS,
  detailOf,
  failureHeaders,
  isRetryable,
  lineOf,
} from '#src/refusals/refusal'
import type { Request } from './request.ts'

/** The answer 200 with the success envelope. */
export const success = (data: object): TextReply => ({
  status: 200,
  contentType: JSON_TYPE,
  headers: NO_HEADERS,
  body: `{"success":true,"data":${JSON.stringify(data)}}`,
})

/** The request that was refused, and the languages that its caller wants. */
export type Asking = Pick<Request, 'requestId' | 'acceptLanguage'>

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
