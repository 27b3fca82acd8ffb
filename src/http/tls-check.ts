// Finds the reason why TLS cannot be served. The HTTP library only says that it failed, and asks on
// the terminal for the passphrase of a key that has one.

import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** The beginning of the settings that name the files. */
export type TlsSettings = 'SERVICE_HTTP_TLS' | 'SERVICE_PRIVATE_TLS'

/** A sentence that names the setting; undefined when certificate and key are good. */
export function whyNoTls(
  { certFile, keyFile }: TlsFiles,
  settings: TlsSettings = 'SERVICE_HTTP_TLS',
): string | undefined {
  const certificate = parsed(certFile, (pem) => new X509Certificate(pem))
  if (typeof certificate === 'string') {
    const form = 'holds no certificate in PEM form'
    return `${settings}_CERT names ${certFile}, which ${certificate || form}`
  }
  const key = parsed(keyFile, (pem) => createPrivateKey(pem))
  if (typeof key === 'string') {
    const form = 'holds no private key in PEM form without a passphrase'
    return `${settings}_KEY names ${keyFile}, which ${key || form}`
  }
  if (certificate.checkPrivateKey(key)) return undefined
  return `${settings}_KEY names ${keyFile}, which is not the key of the certificate in ${certFile}`
}

/** The contents of a file; a text when it cannot be read, an empty one for any other contents. */
function parsed<Value extends object>(file: string, parse: (pem: Buffer) => Value): Value | string {
  let pem: Buffer
  try {
    pem = readFileSync(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    return `cannot be read (${code})`
  }
  try {
    return parse(pem)
  } catch {
    // The parser's error may quote a file that is no key, so it is not repeated.
    return ''
  }
}
