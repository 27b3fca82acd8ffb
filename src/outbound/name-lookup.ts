// Looks up the names that strangers have the gateway fetch, apart from all other look-ups.
//
// The system's own look-up keeps a thread of the process until the name servers have answered, and
// nothing can cancel it: a few unanswered names would hold up every look-up of the process. This
// one asks the name servers of the system on sockets of its own. It does not read the file of
// hosts, whose names are of the inner network, and so of no client.

import { Resolver } from 'node:dns/promises'

/**
 * Returns every address of a name. Ends soon after `signal` aborts, and holds nothing then. Rejects
 * for a name without an address.
 */
export type NameLookup = (name: string, signal: AbortSignal) => Promise<readonly string[]>

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
