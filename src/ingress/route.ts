// One row of the table of routes, and how a row is told in the OpenAPI document.

import type { FaultCode } from '#domain/fault'
import type { RouteDescription } from '#src/schemas/openapi'
import type { Checks, Handler } from './request.ts'

/** What a row says of itself; the codes that its checks can give are added. */
export type About = Omit<RouteDescription, 'method' | 'path' | 'codes'> & {
  readonly codes?: readonly FaultCode[]
}

export interface Route extends Checks {
  readonly method: 'GET' | 'POST'
  /** False where the request changes something, as POST does: then there is no HEAD beside it. */
  readonly isSafe: boolean
  readonly about: About
}

/** Which of the shared checks a route has beside those of its body. */
export type Tiers = Pick<Checks, 'token' | 'budget'>

/** Asks for the gateway token. */
export const FREE: Tiers = { token: 'required', budget: 'free' }
/** Asks for the gateway token and, without one, counts in the password budget. */
export const COUNTED: Tiers = { token: 'required', budget: 'counted' }
/** Asks for nothing. */
export const UNGUARDED: Tiers = { token: 'none', budget: 'free' }

/** A row for GET; it reads no body. */
export const get = (path: string, handle: Handler, tiers: Tiers, about: About): Route => ({
  method: 'GET',
  path,
  ...tiers,
  body: 'none',
  isSafe: true,
  handle,
  about,
})

/** A row for a GET that changes something, which HEAD must not. (RFC 9110, 9.2.1) */
export const unsafeGet: typeof get = (...row) => ({ ...get(...row), isSafe: false })

/** A row for POST; it reads a JSON body. */
export const post = (path: string, handle: Handler, tiers: Tiers, about: About): Route => ({
  method: 'POST',
  path,
  ...tiers,
  body: 'json',
  isSafe: false,
  handle,
  about,
})

/** The rows with a HEAD behind each safe GET: the same answer without its body. */
export const withHead = (routes: readonly Route[]): readonly Checks[] =>
  routes.flatMap((route) => (route.isSafe ? [route, { ...route, method: 'HEAD' }] : [route]))

export function describe({ method, path, token, budget, body, about }: Route): RouteDescription {
  const codes = new Set<FaultCode>(about.codes)
  if (token === 'required') codes.add('authentication_failed')
  if (budget === 'counted' || token === 'required') codes.add('rate_limited')
  if (body === 'json') for (const code of BODY_CODES) codes.add(code)
  if (path.includes('{')) codes.add('validation_failed')
  codes.add('server_busy').add('internal_error')
  return { ...about, method, path, codes: [...codes] }
}

const BODY_CODES: readonly FaultCode[] = [
  'body_too_large',
  'request_timeout',
  'missing_json_content_type',
  'invalid_json_syntax',
  'invalid_json_data',
  'validation_failed',
]
