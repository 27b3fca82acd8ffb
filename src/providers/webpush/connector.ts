// Connects to a push service whose address a stranger named.
//
// Invariants:
//   webpush-connector/1. Each connection goes to an address that was compared for it: a public one
//     by https on port 443, or one of the private networks of the settings.

import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'

import { buildConnector } from 'undici'

import { ForbiddenAddress, bareHost, guardedAddresses } from '#src/outbound/address-guard'
import type { NameLookup } from '#src/outbound/name-lookup'
import { allowanceOf } from './endpoint.ts'

const CONNECT_MS_MAX = 10_000

export interface ConnectorOptions {
  readonly resolve: NameLookup
  readonly isPublic: (address: string) => boolean
  /** CIDR blocks. */
  readonly privateNetworks: readonly string[]
}

/** Returns a function that makes the connector for each origin. */
export function connectorsFor({ resolve, isPublic, privateNetworks }: ConnectorOptions) {
  const allowance = allowanceOf(privateNetworks, isPublic)
  return (origin: string): buildConnector.connector => {
    const { hostname } = new URL(origin)
    const isAllowed = allowance(origin) // webpush-connector/1
    const signal = new AbortController().signal // The time limit of the connection ends a look-up.
    const guarding = { resolve, isAllowed, signal }
    const lookup = lookupBy(() => guardedAddresses(hostname, guarding))
    const connect = buildConnector({ timeout: CONNECT_MS_MAX, lookup })
    return (options, callback) => {
      const address = bareHost(hostname)
      // Nobody looks an address up.
      if (isIP(address) !== 0 && !isAllowed(address)) {
        callback(new ForbiddenAddress('the address is not public'), null)
      } else connect({ ...options, hostname: address }, callback)
    }
  }
}

/** Returns these addresses in the form in which a socket asks for them. */
function lookupBy(addresses: () => Promise<readonly [string, ...string[]]>): LookupFunction {
  const answer = async (...[, { all }, done]: Parameters<LookupFunction>): Promise<void> => {
    const found = await addresses().catch(errorOf)
    if (found instanceof Error) done(found, '')
    else if (all !== true) done(null, found[0], isIP(found[0]))
    else
      done(
        null,
        found.map((address) => ({ address, family: isIP(address) })),
      )
  }
  return (...asked) => void answer(...asked)
}

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error())
