// The cookies of the pages and of the authorization server's library.
//
// Invariants:
//   cookies/1. Over https a cookie of the whole site has the prefix __Host-, and one of a single
//              page __Secure-: neither a neighbour's host name nor plain http can set it. (RFC
//              6265bis, 4.1.3)

export interface CookieNames {
  readonly isSecure: boolean
  /** Names the browser in which a person allowed something. */
  readonly session: string
  /** Ties forms to the browser that has their page. */
  readonly form: string
  /** Those of one authorization, each for the path of one page. */
  readonly interaction: string
  readonly resume: string
}

/** The names of the cookies of a gateway with this address. */
export function cookieNames(baseUrl: string): CookieNames {
  const isSecure = baseUrl.startsWith('https:')
  const [host, secure] = isSecure ? ['__Host-', '__Secure-'] : ['', ''] // cookies/1
  return {
    isSecure,
    session: `${host}heliograph_oauth`,
    form: `${host}heliograph_form`,
    interaction: `${secure}heliograph_bind`,
    resume: `${secure}heliograph_resume`,
  }
}

/** The attributes of a cookie that only this site's own pages send along. */
export const strictCookie = (
  { isSecure }: Pick<CookieNames, 'isSecure'>,
  name: string,
  value: string,
): string => `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
