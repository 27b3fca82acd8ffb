// Reads the certificate of the carriers with their own port: TCP and QUIC.

import { readFileSync } from 'node:fs'

import type { Config } from '#src/config/config'
import { whyNoTls } from '#src/http/tls-check'
import type { ReadCertificate } from '#src/doors/door'

/** Reads the files of the settings each time it is called; throws a sentence for the operator. */
export function certificateOf({ tls }: Config['privateTransports']): ReadCertificate {
  return () => {
    if (tls === undefined) throw new Error('SERVICE_PRIVATE_TLS_CERT is missing')
    const problem = whyNoTls(tls, 'SERVICE_PRIVATE_TLS')
    if (problem !== undefined) throw new Error(problem)
    return { cert: readFileSync(tls.certFile, 'utf8'), key: readFileSync(tls.keyFile, 'utf8') }
  }
}
