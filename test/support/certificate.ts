// Certificates for this machine and their keys, made when a test asks: none stands in the
// repository. Node makes keys and no certificates, so openssl is asked.

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { ExecutionContext } from 'ava'

import { temporaryFolder } from './gateway.ts'
import type { Owner } from './gateway.ts'

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  readonly pem: string
}

export type WithCertificate = (t: ExecutionContext, certificate: Certificate) => Promise<void>

const REQUEST = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2
  -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1,DNS:localhost`.split(/\s+/)

/** Signs itself. Its files go with the test. */
export async function makeCertificate(t: Owner): Promise<Certificate> {
  const folder = await temporaryFolder(t)
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await promisify(execFile)('openssl', [...REQUEST, '-keyout', keyFile, '-out', certFile])
  return { certFile, keyFile, pem: await readFile(certFile, 'utf8') }
}

export interface Authority {
  /** The certificate of the authority itself. */
  readonly caFile: string
  /** A certificate for alternative names such as `IP:127.0.0.1`, valid for some days from now. */
  readonly issue: (names: string, days: number) => Promise<Omit<Certificate, 'pem'>>
}

export type WithAuthority = (t: ExecutionContext, authority: Authority) => Promise<void>

const KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ')
const OF_AUTHORITY = ['-addext', 'basicConstraints=critical,CA:TRUE', '-days', '2']

/** An authority of its own; its files go with the test. */
export async function makeAuthority(t: ExecutionContext): Promise<Authority> {
  const folder = await temporaryFolder(t)
  const openssl = (...parameters: readonly string[]) =>
    promisify(execFile)('openssl', parameters, { cwd: folder })
  const made = ['-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem']
  await openssl('req', '-x509', ...KEY, ...OF_AUTHORITY, ...made)
  let issued = 0
  return {
    caFile: join(folder, 'ca.pem'),
    issue: async (names, days) => {
      issued += 1
      const [key, request, extensions, certificate] = ['key', 'csr', 'ext', 'pem'].map(
        (ending) => `${issued}.${ending}`,
      ) as [string, string, string, string]
      await openssl('req', ...KEY, '-subj', '/CN=server', '-keyout', key, '-out', request)
      await writeFile(join(folder, extensions), `subjectAltName=${names}\n`)
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', String(days)]
      const into = ['-in', request, '-extfile', extensions, '-out', certificate]
      await openssl('x509', '-req', ...by, ...into)
      return { certFile: join(folder, certificate), keyFile: join(folder, key) }
    },
  }
}

/** A test without openssl gives the reason and passes; under CI=true it fails. */
export const withCertificate = (run: WithCertificate) => having(makeCertificate, run)

/** The same with an authority. */
export const withAuthority = (run: WithAuthority) => having(makeAuthority, run)

const having =
  <Made>(
    make: (t: ExecutionContext) => Promise<Made>,
    run: (t: ExecutionContext, made: Made) => Promise<void>,
  ) =>
  async (t: ExecutionContext): Promise<void> => {
    const made = await make(t).catch((error: unknown) => {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isMissing || process.env['CI'] === 'true') throw error
      return undefined
    })
    if (made !== undefined) return run(t, made)
    t.log('not run: there is no openssl to make a certificate with')
    t.pass()
    return undefined
  }
