// The reason for a failed TLS connection, in words for the operator. They contain no names and
// values of the certificate.

/** Error codes of Node, or beginnings of messages where a client gives its own code. */
const PROBLEMS: readonly (readonly [problem: RegExp, sentence: string])[] = [
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_UNTRUSTED)$/,
    'its certificate comes from an authority that is not trusted here',
  ],
  [
    /^(self-signed certificate|unable to (verify|get) )/,
    'its certificate comes from an authority that is not trusted here',
  ],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID$|Hostname\/IP does not match certificate)/,
    'its certificate is not for the name or address by which it is reached',
  ],
  [/^(CERT_HAS_EXPIRED$|certificate has expired)/, 'its certificate has expired'],
  [/^(CERT_NOT_YET_VALID$|certificate is not yet valid)/, 'its certificate is not valid yet'],
  [/^(HANDSHAKE_NO_SSL_SUPPORT$|server does not support 'tls')/, 'it does not offer TLS'],
]
const CAUSES_MAX = 4

/**
 * A clause that gives the reason, such as "it does not offer TLS"; undefined for another failure.
 */
export function tlsRefusal(failure: unknown): string | undefined {
  let error = failure
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    const code: unknown = 'code' in error ? error.code : undefined
    for (const text of [code, error.message]) {
      if (typeof text !== 'string') continue
      const found = PROBLEMS.find(([problem]) => problem.test(text))
      if (found !== undefined) return found[1]
    }
    error = error.cause
  }
  return undefined
}
