// The addresses of the database and of NATS, and the authorities to trust there. An address may
// hold a password: no sentence repeats it.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { read, refuse } from './setting.ts'
import type { Env } from './setting.ts'

/** The file that a setting names; undefined when it is not set. */
export function caFile(env: Env, name: string): string | undefined {
  const file = read(env, name)
  if (file === undefined) return undefined
  if (!isReadable(file)) {
    const allowed = 'a PEM file with the certificates of the authorities to trust'
    refuse(name, `names ${file}, which cannot be read as certificates`, allowed)
  }
  return file
}

function isReadable(file: string): boolean {
  try {
    return new X509Certificate(readFileSync(file)).raw.length > 0
  } catch {
    return false
  }
}

export function databaseUrl(env: Env): string {
  const text = read(env, 'SERVICE_DATABASE_URL') ?? 'sqlite:data/heliograph.db'
  // A database in memory keeps nothing, and each thread would have one of its own.
  if (/^sqlite:(?!:memory:).+/.test(text) || isMySqlUrl(text)) return text
  // The value may hold a password, so it is not repeated.
  const allowed =
    'sqlite:<path>, mysql://user:password@host:port/database or mysqls:// for TLS, ' +
    'user and password percent-encoded'
  return refuse('SERVICE_DATABASE_URL', 'has an unknown form', allowed)
}

function isMySqlUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^mysqls?:$/.test(url.protocol) || url.hostname === '') return false
  return /^\/[^/]+$/.test(url.pathname) && hasReadableCredentials(url)
}

/** False for a bare % in a password, which cannot be told from the beginning of an escape. */
function hasReadableCredentials({ username, password }: URL): boolean {
  try {
    for (const part of [username, password]) decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

/**
 * Refuses IPv6 addresses: the driver compares a certificate with a name or an IPv4 address only.
 */
export function refuseIPv6(url: string): void {
  if (URL.parse(url)?.hostname.startsWith('[') !== true) return
  const problem = 'names an IPv6 address, which cannot be compared with a certificate'
  refuse('SERVICE_DATABASE_URL', problem, 'for TLS a name or an IPv4 address')
}

export function natsUrlOf(env: Env): string | undefined {
  const text = read(env, 'SERVICE_NATS_URL')
  const isGood = (part: string): boolean => {
    const url = URL.parse(part.trim())
    const isNats = url?.protocol === 'nats:' || url?.protocol === 'tls:'
    if (!isNats || url.hostname === '') return false
    return url.pathname.length <= 1 && hasReadableCredentials(url)
  }
  if (text === undefined || text.split(',').every(isGood)) return text
  // The value may hold a password, so it is not repeated.
  const allowed =
    'a comma list of nats://[user:password@]host:port, or tls://, user and password percent-encoded'
  return refuse('SERVICE_NATS_URL', 'has an unknown form', allowed)
}
