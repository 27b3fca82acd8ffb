// How the driver is told to talk TLS and to check the server.

import { readFileSync } from 'node:fs'
import { connect, isIPv4 } from 'node:net'
import type { Socket } from 'node:net'

interface Address {
  readonly host: string
  readonly port: number
}

/** The options of the driver in place of those without TLS. */
export interface TlsOptions {
  readonly host: string
  readonly ssl: {
    readonly ca?: string
    readonly rejectUnauthorized: true
    readonly verifyIdentity: true
  }
  readonly stream?: () => Socket
}

/**
 * `caFile`: PEM certificates to trust in place of those of the system.
 *
 * The driver compares the certificate with the name of the host, and where that is an address with
 * `localhost`. An IPv4 address with a dot behind it is a name to the driver and an address to
 * Node's comparison; only the connection is made to the address itself.
 */
export function tlsOptionsFor({ host, port }: Address, caFile: string | undefined): TlsOptions {
  const ssl = {
    rejectUnauthorized: true,
    verifyIdentity: true,
    ...(caFile !== undefined && { ca: readFileSync(caFile, 'utf8') }),
  } as const
  if (!isIPv4(host)) return { host, ssl }
  return { host: `${host}.`, ssl, stream: () => socketTo({ host, port }) }
}

/** A connection that is being made, as the driver would make it. */
function socketTo({ host, port }: Address): Socket {
  const socket = connect(port, host)
  socket.once('connect', () => socket.setKeepAlive(true))
  return socket.setNoDelay(true)
}
