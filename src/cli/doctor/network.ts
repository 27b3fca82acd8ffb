// Checks of the server below HTTP: name, connection, certificate.

import { lookup } from 'node:dns/promises'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { UNIT_MS } from '#domain/runtime'
import { ok, problem, warning } from './finding.ts'
import type { Finding } from './finding.ts'

/** Milliseconds that a server has to answer. */
export const WITHIN_MS = 5_000
/** An automatic renewal comes earlier than this many days before the end. */
const CERTIFICATE_DAYS_MIN = 14

export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Host and port of an address. */
export function endpointOf(baseUrl: string): Endpoint {
  const { hostname, port, protocol } = new URL(baseUrl)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) }
}

export async function examineName({ host }: Endpoint): Promise<Finding> {
  if (isIP(host) !== 0) return ok('name', `${host} is an address`)
  try {
    const addresses = await lookup(host, { all: true })
    return ok('name', `${host} is ${addresses.map(({ address }) => address).join(', ')}`)
  } catch (error) {
    const hint = 'is the name right, and does this computer have DNS?'
    return problem('name', `${host} is not found (${codeOf(error)})`, hint)
  }
}

export async function examineConnection(check: string, { host, port }: Endpoint): Promise<Finding> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = connect({ host, port, timeout: WITHIN_MS })
  socket.once('connect', () => resolve(undefined))
  socket.once('timeout', () => resolve('does not answer'))
  socket.once('error', (error) => resolve(`refuses (${codeOf(error)})`))
  const refusal = await promise
  socket.destroy()
  if (refusal === undefined) return ok(check, `port ${port} is open`)
  const hint = 'does the server run there, and does a firewall let this computer through?'
  return problem(check, `port ${port} ${refusal}`, hint)
}

/** Checks that this computer trusts the certificate, and that it does not end soon. */
export async function examineCertificate(
  check: string,
  { host, port }: Endpoint,
  nowMs: number,
): Promise<Finding> {
  const { promise, resolve } = Promise.withResolvers<Finding>()
  // Connects without trust too, so that the finding can give the reason.
  const options = { host, port, ...serverNameOf({ host }), rejectUnauthorized: false }
  const socket = connectTls(options, () => {
    const { authorized, authorizationError } = socket
    const until = Date.parse(socket.getPeerCertificate().valid_to)
    resolve(
      aboutCertificate(check, authorized ? undefined : reasonOf(authorizationError), until, nowMs),
    )
  })
  socket.setTimeout(WITHIN_MS, () => socket.destroy(new Error('it does not answer')))
  socket.once('error', (error) => {
    const hint = `does port ${port} speak TLS?`
    resolve(problem(check, `no TLS on port ${port} (${codeOf(error)})`, hint))
  })
  const finding = await promise
  socket.destroy()
  return finding
}

/** The name that TLS asks for; an address is none. */
export const serverNameOf = ({ host }: Pick<Endpoint, 'host'>): { readonly servername?: string } =>
  isIP(host) === 0 ? { servername: host } : {}

/** The finding about a certificate. */
export function aboutCertificate(
  check: string,
  distrust: string | undefined,
  untilMs: number,
  nowMs: number,
): Finding {
  const days = Math.floor((untilMs - nowMs) / UNIT_MS.d)
  const until = Number.isFinite(untilMs) ? new Date(untilMs).toISOString().slice(0, 10) : '?'
  if (untilMs < nowMs) {
    return problem(check, `the certificate ended on ${until}`, 'renew it; SIGHUP loads the new one')
  }
  if (distrust !== undefined) {
    const hint = 'devices need a certificate for this name from an authority that they trust'
    return problem(check, `the certificate is not trusted here (${distrust})`, hint)
  }
  if (days < CERTIFICATE_DAYS_MIN) {
    return warning(check, `the certificate ends in ${days} days, on ${until}`, 'renew it soon')
  }
  return ok(check, `the certificate is trusted and valid until ${until}`)
}

const reasonOf = (reason: unknown): string =>
  reason instanceof Error ? codeOf(reason) : String(reason)

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'it does not answer'
