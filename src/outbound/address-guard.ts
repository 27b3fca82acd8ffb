// Tells which addresses the gateway may connect to when a stranger names them.
//
// Invariants:
//   address-guard/1. A name counts as its addresses: each of them must be allowed, and the caller
//                    connects to what it gets here, so no later answer of a name server counts.

import { BlockList, isIP, isIPv6 } from 'node:net'

import type { NameLookup } from './name-lookup.ts'

interface Guarding {
  readonly resolve: NameLookup
  readonly isAllowed: (address: string) => boolean
  readonly signal: AbortSignal
}

/**
 * Returns every address of the host of a URL. Rejects when one of them is not allowed; the error
 * does not name it.
 */
export async function guardedAddresses(
  hostname: string,
  { resolve, isAllowed, signal }: Guarding,
): Promise<readonly [string, ...string[]]> {
  const host = bareHost(hostname)
  const [first, ...others] = isIP(host) === 0 ? await resolve(host, signal) : [host]
  if (first === undefined || ![first, ...others].every(isAllowed)) {
    throw new ForbiddenAddress('the host has an address that is not public') // address-guard/1
  }
  return [first, ...others]
}

/** The host has an address to which the gateway does not connect. */
export class ForbiddenAddress extends Error {}

/** Returns the name that TLS asks the host for; '' for an address. */
export function serverNameOf(hostname: string): string {
  const host = bareHost(hostname)
  return isIP(host) === 0 ? host : ''
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

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

/** Returns the list of these CIDR blocks; a bare address is a block of one. */
export function blocksOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    const family = isIPv6(network) ? 'ipv6' : 'ipv4'
    list.addSubnet(network, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return list
}

const special = blocksOf([...SPECIAL_IPV4, ...SPECIAL_IPV6])
const given = blocksOf(['2000::/3'])

/** True for an address that any host of the internet could have. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  return given.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
