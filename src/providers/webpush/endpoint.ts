// Decides to which addresses the gateway sends pushes for an endpoint, which a stranger named.

import { isIP } from 'node:net'

import { readSubscription } from '#domain/push/subscription'
import { bareHost, blocksOf } from '#src/outbound/address-guard'
import type { WebPushSettings } from './settings.ts'

/**
 * Returns a function that tells for an origin which addresses of its host are allowed: each public
 * one by https on port 443, and those of private networks in any case.
 */
export function allowanceOf(
  privateNetworks: readonly string[],
  isPublic: (address: string) => boolean,
): (origin: string) => (address: string) => boolean {
  const blocks = blocksOf(privateNetworks)
  const isPrivate = (address: string): boolean =>
    blocks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (origin) => {
    const { protocol, port } = new URL(origin)
    const isStandard = protocol === 'https:' && port === ''
    return (address) => isPrivate(address) || (isStandard && isPublic(address))
  }
}

/**
 * Returns why no push can go to a subscription, as far as its endpoint shows that by itself: the
 * addresses of a name are compared when the gateway connects. Undefined when one may.
 */
export function endpointProblem(
  token: string,
  { privateNetworks }: Pick<WebPushSettings, 'privateNetworks'>,
  isPublic: (address: string) => boolean,
): string | undefined {
  const { origin, hostname } = new URL(
    readSubscription(token)?.endpoint ?? 'https://nowhere.invalid',
  )
  const isAllowed = allowanceOf(privateNetworks, isPublic)(origin)
  const address = bareHost(hostname)
  // A name may have an address of a private network, where there is one.
  const isSendable =
    isIP(address) === 0
      ? privateNetworks.length > 0 || /^https:[^:]+$/.test(origin)
      : isAllowed(address)
  if (isSendable) return undefined
  return 'endpoint must be https on port 443 of a public address, or in a network of the settings'
}
