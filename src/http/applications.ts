// The uWebSockets.js applications behind one port.
//
// Invariants:
//   applications/1. One process binds a port, unless sharing is asked for: the library would share
//                   it silently.
//   applications/2. A new certificate comes with a new application on the same port, because the
//                   library cannot change an application's own: it can add and remove names, but a
//                   client that sends none gets the first certificate for ever. Connections of the
//                   earlier application stay with it until they end.

import './uws-environment.ts'
import { App, SSLApp, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js'
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'

import { cannotListen } from '#domain/listen-address'
import type { ListenAddress } from '#domain/listen-address'
import { whyNotBound } from './port-check.ts'
import { whyNoTls } from './tls-check.ts'
import type { TlsFiles } from './tls-check.ts'

const PORT = { shared: 0, exclusive: 1 } as const

type Apply = (app: TemplatedApp) => void

export class Applications {
  readonly #tls: TlsFiles | undefined
  readonly #binding: number
  /** The newest application, which takes connections. */
  #newest: TemplatedApp
  /** Every application that may still have connections. */
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

  /** Applies now, and again to every application that replaces this one. */
  mount(apply: Apply): void {
    this.#mounted.push(apply)
    apply(this.#newest)
  }

  /** Returns the bound port; rejects with a sentence for the operator when it cannot bind. */
  async listen(address: ListenAddress): Promise<number> {
    const { host, port } = address
    let socket = await this.#bind(host, port)
    if (socket !== false && port === 0) {
      // The library binds a port again beside its open connections only when the port was named.
      const chosen = us_socket_local_port(socket)
      us_listen_socket_close(socket)
      socket = await this.#bind(host, chosen)
    }
    if (socket === false) {
      // The library says only that it failed; trying again with Node gives the reason.
      const reason = (await whyNotBound(address)) ?? 'the address is taken or not usable'
      throw cannotListen(address, reason)
    }
    this.#listening = { socket, host }
    return us_socket_local_port(socket)
  }

  /**
   * Reads the certificate anew, for new connections. When it cannot be used, rejects with a
   * sentence for the operator and keeps the old one. (applications/2)
   */
  async reload(): Promise<void> {
    if (this.#tls === undefined || this.#listening === undefined) return
    const app = secureApp(this.#tls)
    for (const apply of this.#mounted) apply(app)
    const { socket, host } = this.#listening
    const port = us_socket_local_port(socket)
    this.#newest = app
    this.#all.push(app)
    // Closes and listens in one pass of the event loop, so that no other process gets the port.
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
      // The library takes the option here too, although its types have it only without a host.
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
