// Redirects connections to some hosts, below every library: for libraries with a fixed host. Only
// tests and the demo use it.

import { Socket } from 'node:net'

/** Maps the `host:port` of a library to the `host:port` of the connection. */
export type Redirects = Readonly<Record<string, string>>

type Connect = (this: Socket, ...values: readonly never[]) => Socket

interface Target {
  readonly host?: string
  readonly hostname?: string
  readonly port?: number | string
}

/** Redirects every later connection of this process. Gives a function that ends this. */
export function redirectConnections(redirects: Redirects): () => void {
  const connect: Connect = Reflect.get(Socket.prototype, 'connect')
  const redirected = function (this: Socket, ...values: readonly unknown[]): Socket {
    return Reflect.apply(connect, this, redirectedIn(values, redirects)) as Socket
  }
  Object.assign(Socket.prototype, { connect: redirected })
  return () => void Object.assign(Socket.prototype, { connect })
}

/** Node's own modules pass a list whose first item has the options. */
function redirectedIn(values: readonly unknown[], redirects: Redirects): readonly unknown[] {
  const [first, ...rest] = values
  if (Array.isArray(first)) {
    // Node recognises its own list by a mark, so the call must pass the same list.
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
