// The one way in which the gateway fetches a document from an address that a stranger names.
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
import { isIP } from 'node:net'

import type { Timers } from '#domain/ports'
import { guardedAddresses, isPublicAddress, serverNameOf } from './address-guard.ts'
import { nameLookup } from './name-lookup.ts'
import type { NameLookup } from './name-lookup.ts'

interface GuardedFetchOptions {
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
  // guarded-fetch/1
  const [address] = await guardedAddresses(url.hostname, { resolve, isAllowed: isPublic, signal })
  const family = isIP(address)
  return answerOf(url, {
    headers: Object.fromEntries(new Headers(init.headers)),
    signal,
    servername: serverNameOf(url.hostname),
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
