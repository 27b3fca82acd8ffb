// The one way in which the gateway fetches an address that a stranger names.
//
// Invariants:
//   guarded-fetch/1. It fetches by https from public addresses only: it checks every address of
//                    the name, and connects to one that it has checked.
//   guarded-fetch/2. No redirect is followed, and size, time and the number at once are bounded.
//   guarded-fetch/3. A fetch counts as one at once until all that it began has ended, also when
//                    nobody waits for it any more.

import { request } from 'node:https'
import type { RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { Resolver } from 'node:dns/promises'

import type { Timers } from '#domain/ports'

export interface GuardedFetchOptions {
  readonly timers: Timers
  /** Only tests replace it. */
  readonly resolve?: NameLookup
  /** Only tests replace it. */
  readonly isPublic?: (address: string) => boolean
  /** PEM certificates to trust, in tests only. */
  readonly ca?: string
}

export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

const BYTES_MAX = 65_536
const WITHIN_MS = 3_000
const AT_ONCE_MAX = 16

/** Rejects for an address that it may not fetch; the error does not name it. */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  let atOnce = 0
  return async (input, init = {}) => {
    const url = new URL(input)
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
      throw new Error('only https without credentials is fetched')
    }
    if (atOnce >= AT_ONCE_MAX) throw new Error('too much is being fetched')
    atOnce += 1
    const timeout = new AbortController()
    const cancel = options.timers.after(WITHIN_MS, () => timeout.abort())
    const fetched = fetchFrom(url, { ...options, init, signal: timeout.signal }).finally(() => {
      cancel()
      atOnce -= 1 // guarded-fetch/3
    })
    return within(fetched, timeout.signal)
  }
}

interface Fetching extends GuardedFetchOptions {
  readonly init: RequestInit
  readonly signal: AbortSignal
}

async function fetchFrom(
  url: URL,
  { resolve = nameLookup(), isPublic = isPublicAddress, ca, init, signal }: Fetching,
): Promise<Response> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = isIP(host) === 0 ? await resolve(host, signal) : [host]
  const [address] = addresses
  if (address === undefined || !addresses.every(isPublic)) {
    throw new Error('the host has an address that is not public') // guarded-fetch/1
  }
  const family = isIP(address)
  return answerOf(url, {
    headers: Object.fromEntries(new Headers(init.headers)),
    signal,
    servername: isIP(host) === 0 ? host : '',
    agent: false,
    lookup: (_host, _options, done) => done(null, [{ address, family }]),
    ...(ca !== undefined && { ca }),
  })
}

function within<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(new Error('it took too long')), { once: true })
  return Promise.race([promise, late])
}

async function answerOf(url: URL, options: RequestOptions): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const asked = request(url, { ...options, method: 'GET' }, resolve)
  asked.on('error', reject)
  asked.end()
  const incoming = await promise
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BYTES_MAX) {
      asked.destroy()
      throw new Error('the answer is too large') // guarded-fetch/2
    }
    chunks.push(chunk)
  }
  const { statusCode = 500, headers } = incoming
  const kept = ['content-type', 'cache-control', 'expires'].flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  // A redirect is an answer like any other: nobody follows it. (guarded-fetch/2)
  const body = [204, 205, 304].includes(statusCode) ? null : Buffer.concat(chunks)
  return new Response(body, { status: statusCode, headers: Object.fromEntries(kept) })
}

/** Ranges that no public host has. (IANA special-purpose registries; RFC 6890) */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** Public IPv6 addresses are 2000::/3, from which hosts get theirs, without these. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

const listOf = (ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}
const special = {
  ipv4: listOf(SPECIAL_IPV4, 'ipv4'),
  ipv6: listOf(SPECIAL_IPV6, 'ipv6'),
}
const given = listOf(['2000::/3'], 'ipv6')

/** True for an address that any host of the internet could have. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.ipv4.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  return given.check(address, 'ipv6') && !special.ipv6.check(address, 'ipv6')
}

// The system's own look-up keeps a thread of the process until the name servers have answered, and
// nothing can cancel it: a few unanswered names would hold up every look-up of the process. This
// one asks the name servers of the system on sockets of its own. It does not read the file of
// hosts, whose names are of the inner network, and so of no client.

/**
 * Returns every address of a name. Ends soon after `signal` aborts, and holds nothing then. Rejects
 * for a name without an address.
 */
type NameLookup = (name: string, signal: AbortSignal) => Promise<readonly string[]>

/** Milliseconds for an answer of a name server, and the servers that are asked. */
const ASKING = { timeout: 1_000, tries: 2 }

/** A look-up by the name servers of the system; tests name others, as `address:port`. */
export const nameLookup =
  (servers?: readonly string[]): NameLookup =>
  async (name, signal) => {
    signal.throwIfAborted()
    const resolver = new Resolver(ASKING)
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = (): void => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
      if (addresses.length === 0) throw new Error('the name has no address')
      return addresses
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
