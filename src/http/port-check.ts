// Finds the reason why a port cannot be had.

import { createSocket } from 'node:dgram'
import { createServer, isIPv6 } from 'node:net'

import type { ListenAddress } from '#domain/listen-address'

type Address = Pick<ListenAddress, 'host' | 'port'>

/**
 * The system's code for the reason why an address cannot be bound; undefined when it can. It binds
 * the address for a moment.
 */
export const whyNotBound = (
  address: Address,
  protocol: 'tcp' | 'udp' = 'tcp',
): Promise<string | undefined> => WHY_NOT[protocol](address)

const WHY_NOT = {
  tcp: ({ host, port }: Address) =>
    new Promise<string | undefined>((resolve) => {
      const probe = createServer()
      probe.once('error', (error) => resolve(codeOf(error)))
      probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
    }),
  udp: ({ host, port }: Address) =>
    new Promise<string | undefined>((resolve) => {
      const probe = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
      const end = (reason?: string): unknown => probe.close(() => resolve(reason))
      probe.once('error', (error) => end(codeOf(error)))
      probe.bind({ address: host, port, exclusive: true }, () => end())
    }),
} as const

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name)
