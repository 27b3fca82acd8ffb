// A certificate for this machine and its key, made when a test asks: neither stands in the
// repository. Node makes keys and no certificates, so openssl is asked.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { ExecutionContext } from 'ava'

import { temporaryFolder } from './gateway.ts'

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  readonly pem: string
}

export type WithCertificate = (t: ExecutionContext, certificate: Certificate) => Promise<void>

const REQUEST = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2
  -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1`.split(/\s+/)

/** Signs itself. Its files go with the test. */
export async function makeCertificate(t: ExecutionContext): Promise<Certificate> {
  const folder = await temporaryFolder(t)
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await promisify(execFile)('openssl', [...REQUEST, '-keyout', keyFile, '-out', certFile])
  return { certFile, keyFile, pem: await readFile(certFile, 'utf8') }
}

/** Where openssl cannot be had a test says why and passes; under CI=true it fails. */
export const withCertificate =
  (run: WithCertificate) =>
  async (t: ExecutionContext): Promise<void> => {
    const made = await makeCertificate(t).catch((error: unknown) => {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isMissing || process.env['CI'] === 'true') throw error
      return undefined
    })
    if (made !== undefined) return run(t, made)
    t.log('not run: there is no openssl to make a certificate with')
    t.pass()
    return undefined
  }
