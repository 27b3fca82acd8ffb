// Connections to some hosts end at other addresses, below every library: for libraries that know
// their host by heart. For tests and the demo alone.

import { Socket } from 'node:net'

/** By `host:port`: the `host:port` to connect to. */
export type Redirects = Readonly<Record<string, string>>

type Connect = (this: Socket, ...values: readonly never[]) => Socket

interface Target {
  readonly host?: string
  readonly hostname?: string
  readonly port?: number | string
}

/** For every connection that is made from now on. Gives the way to end it. */
export function redirectConnections(redirects: Redirects): () => void {
  const connect: Connect = Reflect.get(Socket.prototype, 'connect')
  const redirected = function (this: Socket, ...values: readonly unknown[]): Socket {
    return Reflect.apply(connect, this, redirectedIn(values, redirects)) as Socket
  }
  Object.assign(Socket.prototype, { connect: redirected })
  return () => void Object.assign(Socket.prototype, { connect })
}

/** Node's own callers hand over a list whose first item are the options. */
function redirectedIn(values: readonly unknown[], redirects: Redirects): readonly unknown[] {
  const [first, ...rest] = values
  if (Array.isArray(first)) {
    // It is marked as a list that Node has made: the same list goes on.
    first[0] = redirectedTo(first[0], redirects)
    return values
  }
  return [redirectedTo(first, redirects), ...rest]
}

function redirectedTo(options: unknown, redirects: Redirects): unknown {
  if (typeof options !== 'object' || options === null) return options
  const { host, hostname, port } = options as Target
  const to = redirects[`${host ?? hostname ?? ''}:${port ?? ''}`]
  if (to === undefined) return options
  const [toHost, toPort] = to.split(':')
  return { ...options, host: toHost, hostname: toHost, port: Number(toPort), lookup: undefined }
}
