// The uWebSockets.js applications behind one port.
//
// Invariants:
//   applications/1. A port is bound by one process, unless sharing is asked for: the library does
//                   it silently.
//   applications/2. A new certificate comes with a new application on the same port, because the
//                   library cannot change that of an application: names can be added and removed,
//                   and who sends none gets the first certificate for ever. The connections of the
//                   one before stay with it until they end.

import './uws-environment.ts'
import { App, SSLApp, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js'
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'

import { whyNotBound } from './port-check.ts'
import { whyNoTls } from './tls-check.ts'
import type { TlsFiles } from './tls-check.ts'

const PORT = { shared: 0, exclusive: 1 } as const

type Apply = (app: TemplatedApp) => void

export class Applications {
  readonly #tls: TlsFiles | undefined
  readonly #binding: number
  /** The newest one takes connections. */
  #newest: TemplatedApp
  /** Every one that may still have connections. */
  readonly #all: TemplatedApp[]
  readonly #mounted: Apply[] = []
  #listening: { readonly socket: us_listen_socket; readonly host: string } | undefined

  /** Throws a sentence for the operator when certificate or key cannot be used. */
  constructor(tls: TlsFiles | undefined, { isPortShared }: { readonly isPortShared: boolean }) {
    this.#tls = tls
    this.#binding = PORT[isPortShared ? 'shared' : 'exclusive'] // applications/1
    this.#newest = tls === undefined ? App() : secureApp(tls)
    this.#all = [this.#newest]
  }

  /** Applies now, and to every application that takes the place of this one. */
  mount(apply: Apply): void {
    this.#mounted.push(apply)
    apply(this.#newest)
  }

  /** Gives the bound port; rejects with a sentence for the operator when it cannot bind. */
  async listen(host: string, port: number): Promise<number> {
    let socket = await this.#bind(host, port)
    if (socket !== false && port === 0) {
      // The library lets a port be bound again beside its open connections only where it was named.
      const chosen = us_socket_local_port(socket)
      us_listen_socket_close(socket)
      socket = await this.#bind(host, chosen)
    }
    if (socket === false) {
      throw new Error(`cannot listen on ${host} port ${port}: ${await whyNotBound(host, port)}`)
    }
    this.#listening = { socket, host }
    return us_socket_local_port(socket)
  }

  /**
   * Reads the certificate anew, for connections to come. Rejects with a sentence for the operator
   * when it cannot be used; then the old one stays. (applications/2)
   */
  async reload(): Promise<void> {
    if (this.#tls === undefined || this.#listening === undefined) return
    const app = secureApp(this.#tls)
    for (const apply of this.#mounted) apply(app)
    const { socket, host } = this.#listening
    const port = us_socket_local_port(socket)
    this.#newest = app
    this.#all.push(app)
    // Both in one turn of the loop, so that nobody else gets the port.
    us_listen_socket_close(socket)
    const bound = await this.#bind(host, port)
    if (bound === false) throw new Error(`cannot listen on ${host} port ${port} again`)
    this.#listening = { socket: bound, host }
  }

  /** Ends every connection. */
  close(): void {
    for (const app of this.#all) app.close()
  }

  #bind(host: string, port: number): Promise<us_listen_socket | false> {
    const app = this.#newest
    return new Promise((resolve) => {
      // The option is taken here too, although the published types know it without a host only.
      const bind: unknown = Reflect.get(app, 'listen')
      if (typeof bind !== 'function') throw new Error('the HTTP library has no listen')
      Reflect.apply(bind, app, [host, port, this.#binding, resolve])
    })
  }
}

function secureApp(tls: TlsFiles): TemplatedApp {
  const problem = whyNoTls(tls)
  if (problem !== undefined) throw new Error(problem)
  return SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
}
