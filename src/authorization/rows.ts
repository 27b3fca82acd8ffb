// The authorization server as rows of the table of routes.
//
// Invariants:
//   rows/1. Each path is a row, and the table of routes compares paths byte by byte, so no other
//           spelling is found. The library by itself would fold case and drop a last slash.
//   rows/2. Every request counts for its address and in all, before the server reads or writes
//           anything.

import { createBudget, rateLimited } from '#src/acceptance/budget'
import type { BudgetLimits } from '#src/acceptance/budget'
import type { Style } from '#src/ingress/ingress'
import { mount } from '#src/ingress/mount'
import type { RowMethod } from '#src/http/router'
import { AuthorizationServer } from './server.ts'
import type { AuthorizationOptions, AuthorizationPorts, Endpoint } from './server.ts'
import type { Fault } from '#domain/fault'
import { localeOf, sentenceOf } from '#src/refusals/localise'
import type { MountOptions } from '#src/ingress/mount'
import { JSON_TYPE } from '#src/http/reply'
import type { Reply } from '#src/http/reply'
import { STATUS, failureHeaders } from '#src/refusals/refusal'
import { HTML_TYPE, pageHeaders, pageHtml, paragraph } from './page.ts'
import { wordsIn } from './words.ts'

/** Requests of one kind, which share a budget. */
interface Kind {
  /** Requests in a minute. */
  readonly limits: BudgetLimits
  /** Where its readers are people, a refusal is a page. */
  readonly isForPeople: boolean
  readonly paths: readonly PathRow[]
}

type PathRow = readonly [methods: readonly RowMethod[], path: string, endpoint: Endpoint]

const READ: readonly RowMethod[] = ['GET', 'OPTIONS']
const CALL: readonly RowMethod[] = ['POST', 'OPTIONS']
const FORM: readonly RowMethod[] = ['GET', 'POST']
/** An assistant that runs on servers of its maker calls for many people from one address. */
const OFTEN = { perAddress: 300, total: 6_000 }

const KINDS: readonly Kind[] = [
  {
    // A thousand a minute never drive out an authorization within its ten minutes. (adapter/3)
    limits: { perAddress: 60, total: 1_000 },
    isForPeople: true,
    paths: [[['GET'], '/oauth/authorize', 'protocol']],
  },
  {
    limits: { perAddress: 20, total: 400 },
    isForPeople: false,
    paths: [[['POST'], '/oauth/register', 'protocol']],
  },
  { limits: OFTEN, isForPeople: false, paths: [[CALL, '/oauth/token', 'protocol']] },
  { limits: OFTEN, isForPeople: false, paths: [[CALL, '/oauth/revoke', 'protocol']] },
  {
    limits: OFTEN,
    isForPeople: true,
    paths: [
      [['GET'], '/oauth/authorize/{id}', 'protocol'],
      [FORM, '/oauth/bind/{id}', 'consent'],
      [FORM, '/oauth/session/{id}', 'session'],
      [FORM, '/oauth/assistants', 'assistants'],
      [FORM, '/oauth/sign-out', 'sign-out'],
    ],
  },
  {
    limits: OFTEN,
    isForPeople: false,
    // Metadata has two names. (RFC 8414)
    paths: [
      [READ, '/oauth/jwks', 'protocol'],
      [READ, '/.well-known/oauth-authorization-server', 'protocol'],
      [READ, '/.well-known/openid-configuration', 'protocol'],
    ],
  },
]
const BODY_BYTES_MAX = 32_768

/** Clients and people of the server have no gateway token in their requests. */
export const authorizationStyle =
  (ports: Omit<AuthorizationPorts, 'acceptance'>, options: AuthorizationOptions): Style =>
  (acceptance) => {
    const server = new AuthorizationServer({ ...ports, acceptance }, options)
    // rows/1
    return KINDS.flatMap(({ limits, isForPeople, paths }) => {
      const budget = createBudget(limits, ports.runtime.nowMs)
      return paths.map(([methods, path, endpoint]) =>
        mount({
          methods,
          path,
          handler: (request, response) => server.handle(endpoint, request, response),
          // rows/2
          admit: (address) => {
            const refusal = budget.take(address)
            return refusal && rateLimited(refusal)
          },
          failure: isForPeople ? pageFailure : oauthFailure,
          // The server compares ids with those that it made, which nothing escapes.
          decode: (sent) => sent,
          token: 'none',
          bytesMax: BODY_BYTES_MAX,
          logger: ports.logger,
        }),
      )
    })
  }

type Failure = NonNullable<MountOptions['failure']>

/** The code of the fault stands in the place of OAuth's. (RFC 6749, 5.2) */
const oauthFailure: Failure = (refusal) => ({
  ...headOf(refusal),
  contentType: JSON_TYPE,
  body: JSON.stringify({
    error: refusal.code,
    error_description: sentenceOf(refusal.code, 'en'),
  }),
})

const pageFailure: Failure = (refusal, { acceptLanguage }) => {
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
