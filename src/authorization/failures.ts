// Refusals of the gateway in front of the authorization server: a page for people, and for clients
// an error as OAuth has it.

import type { Fault } from '#domain/fault'
import { localeOf, sentenceOf } from '#src/refusals/localise'
import type { MountOptions } from '#src/ingress/mount'
import { JSON_TYPE } from '#src/http/reply'
import type { Reply } from '#src/http/reply'
import { STATUS, failureHeaders } from '#src/refusals/refusal'
import { HTML_TYPE, pageHeaders, pageHtml, paragraph } from './page.ts'
import { wordsIn } from './words.ts'

type Failure = NonNullable<MountOptions['failure']>

/** The code of the fault stands in the place of OAuth's. (RFC 6749, 5.2) */
export const oauthFailure: Failure = (refusal) => ({
  ...headOf(refusal),
  contentType: JSON_TYPE,
  body: JSON.stringify({
    error: refusal.code,
    error_description: sentenceOf(refusal.code, 'en'),
  }),
})

export const pageFailure: Failure = (refusal, { acceptLanguage }) => {
  const locale = localeOf(acceptLanguage)
  const title = wordsIn(locale).errorTitle
  const body = paragraph(sentenceOf(refusal.code, locale))
  const head = headOf(refusal)
  return {
    ...head,
    headers: [...head.headers, ...Object.entries(pageHeaders({ locale }))],
    contentType: HTML_TYPE,
    body: pageHtml({ status: head.status, locale, title, body }),
  }
}

const headOf = (refusal: Fault): Pick<Reply, 'status' | 'headers' | 'code'> => ({
  status: STATUS[refusal.code],
  headers: failureHeaders(refusal),
  code: refusal.code,
})
