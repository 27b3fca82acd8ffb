// The listeners of an ingress: its own, and one for an imitated tool whose clients take no path
// before their own. That tool may have a host name of the first listener instead. All of them
// serve the same routes.

import type { ListenAddress } from '#domain/listen-address'
import type { Answerer } from './answerer.ts'
import { createHttp } from '#src/http/http'
import type { Http, HttpOptions } from '#src/http/http'
import { Pipeline } from './pipeline.ts'
import type { PipelinePorts } from './pipeline.ts'
import type { Reply } from '#src/http/reply'
import type { Router } from '#src/http/router'
import type { Row } from './row.ts'

/** Routes, and how an unknown path is answered, when not in the envelope. */
export interface Served {
  readonly rows: readonly Row[]
  readonly unknown?: Answerer<never> | undefined
}

export interface ListenerOptions extends Served {
  readonly address: ListenAddress
  /** Other routes for one host name; none of `rows` is there. */
  readonly named?: (Served & { readonly hostName: string }) | undefined
}

export interface Listener {
  readonly http: Http
  /** Counts an answer that did not come from the pipeline. */
  count(reply: Reply): void
  /** Returns the bound port. */
  listen(): Promise<number>
}

type Ports = Omit<PipelinePorts, 'http'>

/** Makes a listener with its rows; it takes requests once it listens. */
export function createListener(
  { address, named, ...served }: ListenerOptions,
  ports: Ports,
  options: HttpOptions,
): Listener {
  const http = createHttp(options)
  const hostName = named?.hostName
  const rest = hostName === undefined ? http : http.forHosts((host) => host !== hostName)
  const pipeline = serve(rest, served, ports)
  if (named !== undefined) {
    serve(
      http.forHosts((host) => host === hostName),
      named,
      ports,
    )
  }
  return {
    http,
    count: (reply) => pipeline.count(reply),
    listen: () => http.listen(address),
  }
}

function serve(http: Router, { rows, unknown }: Served, ports: Ports): Pipeline {
  const pipeline = new Pipeline({ ...ports, http })
  pipeline.mount(rows, unknown)
  return pipeline
}

/** A figure over all listeners. */
export const sumOf = (listeners: readonly Listener[], figure: (http: Http) => number): number =>
  listeners.reduce((sum, { http }) => sum + figure(http), 0)
