// The driver's options for TLS, which make it check the server.

import { readFileSync } from 'node:fs'
import { connect, isIPv4 } from 'node:net'
import type { Socket } from 'node:net'

interface Address {
  readonly host: string
  readonly port: number
}

/** Options that replace the driver's options without TLS. */
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
 * `caFile`: PEM certificates to trust in place of the system's.
 *
 * The driver compares the certificate with the host's name, or with `localhost` when the host is an
 * address. So an IPv4 address gets a dot behind it: the driver takes it for a name, Node's
 * comparison for an address. The connection goes to the address itself.
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

/** Opens the socket, as the driver would. */
function socketTo({ host, port }: Address): Socket {
  const socket = connect(port, host)
  socket.once('connect', () => socket.setKeepAlive(true))
  return socket.setNoDelay(true)
}
